import { useLanguage } from '../words/words.tsx';

const mostRows = 200;

/** Separated values as a table; of a long one the beginning. */
export function TableView({ text }: { readonly text: string }) {
  const { words, language } = useLanguage();
  const { rows, isCut } = readTable(text, mostRows);
  const [head = [], ...body] = rows;
  const more = isCut ? text.trimEnd().split('\n').length - mostRows : 0;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by the keyboard */}
      <section className="table-frame" tabIndex={0} aria-label={words.asTable}>
        <table>
          <thead>
            <tr>
              {head.map((cell, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: cells have no other identity and never move
                <th key={at} scope="col">
                  {cell}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {body.map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: as above
              <tr key={at}>
                {row.map((cell, place) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: as above
                  <td key={place} className={/^-?[\d.,\s]+%?$/.test(cell) ? 'number' : undefined}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {more > 0 && <p className="soft small">{words.moreRows(more.toLocaleString(language))}</p>}
    </>
  );
}

/** The rows of a table; of a long one the first. */
interface ReadTable {
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
