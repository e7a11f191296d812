import { readCsvRows } from '#base/text/csv-rows.ts';
import type { LoadedBlocks } from './block.ts';
import { decodeText } from './decode-text.ts';

/** Values parted by commas, semicolons, tabs or bars; the first row is the header. */
export function loadCsv(bytes: Uint8Array): LoadedBlocks {
  const [header = [], ...rows] = readCsvRows(decodeText(bytes));
  return { title: '', blocks: header.length === 0 ? [] : [{ kind: 'table', header, rows, page: null }] };
}
