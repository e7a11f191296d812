const separators = [',', ';', '\t', '|'];
const sniffedLength = 4000;

/** Parses values separated by commas, semicolons, tabs, or bars (RFC 4180). Trims cells and skips rows without text. */
export function readCsvRows(text: string): readonly (readonly string[])[] {
  return readRows(text, sniffSeparator(text)).filter((row) => row.some((cell) => cell.trim() !== ''));
}

/** Returns the separator that occurs most often in the first line. If several are equal, the earlier in `separators` wins. */
function sniffSeparator(text: string): string {
  const [line = ''] = text.slice(0, sniffedLength).split('\n');
  const counts = separators.map((separator) => line.split(separator).length);
  return separators[counts.indexOf(Math.max(...counts))] ?? ',';
}

function readRows(text: string, separator: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    const { cell, end } = text[at] === '"' ? readQuoted(text, at, separator) : readPlain(text, at, separator);
    row.push(cell.trim());
    at = end + 1;
    if (end < text.length && text[end] === separator) {
      if (at === text.length) row.push('');
      continue;
    }
    rows.push(row);
    row = [];
  }
  if (row.length > 0) rows.push(row);
  return rows;
}

interface Cell {
  readonly cell: string;
  /** Index of the separator, the line feed, or the end of the text. */
  readonly end: number;
}

function readPlain(text: string, from: number, separator: string): Cell {
  let end = from;
  while (end < text.length && text[end] !== separator && text[end] !== '\n') end += 1;
  return { cell: text.slice(from, end), end };
}

/** Text between the closing quote and the separator belongs to the cell too. */
function readQuoted(text: string, from: number, separator: string): Cell {
  let cell = '';
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return { cell: cell + text.slice(at), end: text.length };
    cell += text.slice(at, quote);
    if (text[quote + 1] !== '"') {
      const tail = readPlain(text, quote + 1, separator);
      return { cell: cell + tail.cell, end: tail.end };
    }
    cell += '"';
    at = quote + 2;
  }
}
