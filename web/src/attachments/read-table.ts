/** The rows of a table; of a long one the first. */
export interface ReadTable {
  readonly rows: readonly (readonly string[])[];
  readonly isCut: boolean;
}

/** A cell with what ends it; a quoted one may hold anything (RFC 4180). */
const cells = {
  ',': /(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\n|$)/y,
  '\t': /(?:"((?:[^"]|"")*)"|([^\t\n]*))(\t|\n|$)/y,
} as const;

/** Rows of comma- or tab-separated values. */
export function readTable(text: string, mostRows: number): ReadTable {
  // Pattern bound: the user's own tab: one table file.
  const plain = text.replaceAll('\r\n', '\n').replace(/\n+$/, '');
  const [firstLine = ''] = plain.split('\n', 1);
  const cell = cells[firstLine.includes('\t') ? '\t' : ','];
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at <= plain.length && rows.length <= mostRows) {
    cell.lastIndex = at;
    const [whole, quoted, bare = '', end = ''] = cell.exec(plain) ?? [plain.slice(at), undefined, plain.slice(at)];
    row.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'));
    at += whole.length;
    if (end === '' || end === '\n') {
      rows.push(row);
      row = [];
    }
    if (end === '') break;
  }
  return { rows: rows.slice(0, mostRows), isCut: rows.length > mostRows };
}
