/** An answer with rows. All rows have their fields in the same order, but a row may lack the last ones. */
export interface Rows {
  readonly object: 'list';
  readonly data: readonly object[];
  readonly nextToken?: string | null;
  readonly [field: string]: unknown;
}

/** Returns rows as CSV (RFC 4180) with a header line. Returns an empty text if there are no rows. */
export function toCsv({ data }: Pick<Rows, 'data'>): string {
  const names = [...new Set(data.flatMap((row) => Object.keys(row)))];
  if (names.length === 0) return '';
  const lines = data.map((row) => {
    const values = new Map<string, unknown>(Object.entries(row));
    return names.map((name) => toCell(values.get(name))).join(',');
  });
  return `${[names.join(','), ...lines].join('\r\n')}\r\n`;
}

function toCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = Array.isArray(value) ? value.join(' > ') : String(value);
  // Spreadsheets run a cell that begins so as a formula, and users choose their own names.
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
