import { type CellObject, read, type WorkSheet } from '@e965/xlsx';
import { zipSync } from 'fflate';
import type { Block, LoadBounds, LoadedBlocks } from './loader.ts';
import { readZip } from './read-zip.ts';

const maxRows = 200_000;
const maxColumns = 1000;

/** Loads a workbook. Each sheet is a page with its name as heading. The first row with several cells is the header. */
export function loadXlsx(bytes: Uint8Array, { maxUnpackedBytes, maxPages }: LoadBounds): LoadedBlocks {
  const parts = readZip(bytes, maxUnpackedBytes, (name) => /\.(xml|rels)$/.test(name));
  // A new archive contains only the parts whose size was checked.
  const cleanArchive = zipSync(Object.fromEntries(parts), { level: 0 });
  const book = read(cleanArchive, {
    type: 'array',
    dense: true,
    cellDates: true,
    cellFormula: false,
    cellHTML: false,
    sheetRows: maxRows,
  });
  const names = book.SheetNames.slice(0, maxPages);
  const omittedCount = book.SheetNames.length - names.length;
  const blocks = names.flatMap((name, index) => toBlocks(name, book.Sheets[name], index + 1));
  return {
    title: '',
    blocks,
    note: omittedCount > 0 ? `Only the first ${maxPages} sheets were read. ${omittedCount} more were omitted.` : undefined,
  };
}

function toBlocks(name: string, sheet: WorkSheet | undefined, page: number): Block[] {
  const rows = listRows(sheet).filter((cells) => cells.some((cell) => cell !== ''));
  const headerIndex = rows.findIndex((cells) => cells.filter((cell) => cell !== '').length > 1);
  if (rows.length === 0) return [];
  const heading: Block = { kind: 'heading', level: 1, text: name, page };
  const textAbove = rows
    .slice(0, headerIndex === -1 ? rows.length : headerIndex)
    .map((cells): Block => ({ kind: 'text', text: cells.join(' ').trim(), page }));
  const [header = [], ...bodyRows] = headerIndex === -1 ? [] : rows.slice(headerIndex);
  return [heading, ...textAbove, ...(headerIndex === -1 ? [] : [{ kind: 'table' as const, header, rows: bodyRows, page }])];
}

/** Returns the existing rows. The declared size of a sheet is not trusted. */
function listRows(sheet: WorkSheet | undefined): string[][] {
  const data: readonly (readonly (CellObject | undefined)[] | undefined)[] = sheet?.['!data'] ?? [];
  return data.filter((row) => row !== undefined).map(toCells);
}

function toCells(row: readonly (CellObject | undefined)[]): string[] {
  const last = row.findLastIndex((cell) => cell !== undefined);
  return Array.from({ length: Math.min(last + 1, maxColumns) }, (_, index) => toText(row[index]));
}

function toText(cell: CellObject | undefined): string {
  const value = cell?.v instanceof Date ? cell.v.toISOString().replace(/T00:00:00.*/, '') : (cell?.w ?? cell?.v ?? '');
  return String(value).replace(/\s+/g, ' ').trim();
}
