import { isJsonObject, JsonFault, type JsonObject, parseJson } from '#base/json/json.ts';
import type { Block, LoadedBlocks } from './block.ts';
import { decodeText } from './decode-text.ts';
import { DocumentFault } from './document-fault.ts';

const bounds = { maxDepth: 64, maxNodes: 5_000_000, allowsProto: true };
const deepestHeading = 4;

/** JSON: a table where objects of plain values are listed, lines of `path: value` elsewhere, keys that hold objects as headings. */
export function loadJson(bytes: Uint8Array): LoadedBlocks {
  const blocks: Block[] = [];
  add(blocks, parse(decodeText(bytes)), []);
  return { title: '', blocks };
}

function parse(text: string): unknown {
  try {
    return parseJson(text, bounds);
  } catch (cause) {
    throw new DocumentFault(`It is not JSON that can be read: ${cause instanceof JsonFault ? cause.message : 'it is damaged'}.`, {
      cause,
    });
  }
}

function add(blocks: Block[], value: unknown, path: readonly string[]): void {
  if (path.length > 0 && path.length <= deepestHeading && !isPlain(value)) {
    blocks.push({ kind: 'heading', level: path.length, text: path.at(-1) ?? '', page: null });
  }
  if (isTable(value)) addTable(blocks, value);
  else if (isPlain(value)) addLines(blocks, [toLine(path.at(-1), value)]);
  else addEntries(blocks, value as JsonObject | readonly unknown[], path);
}

function addEntries(blocks: Block[], value: JsonObject | readonly unknown[], path: readonly string[]): void {
  const entries = Object.entries(value);
  const isList = Array.isArray(value);
  addLines(
    blocks,
    entries.filter(([, item]) => isPlain(item)).map(([key, item]) => toLine(isList ? undefined : key, item)),
  );
  for (const [key, item] of entries) if (!isPlain(item)) add(blocks, item, [...path, isList ? nameOf(item, key) : key]);
}

/** What an item of a list calls itself, else its number. */
function nameOf(item: unknown, key: string): string {
  const names = isJsonObject(item) ? [item.title, item.name, item.id] : [];
  return (names.find((name) => typeof name === 'string' && name !== '') as string | undefined) ?? `${Number(key) + 1}`;
}

function addLines(blocks: Block[], lines: readonly string[]): void {
  if (lines.length > 0) blocks.push({ kind: 'text', text: lines.join('\n'), page: null });
}

function toLine(key: string | undefined, value: unknown): string {
  return key === undefined ? toText(value) : `${key}: ${toText(value)}`;
}

function addTable(blocks: Block[], rows: readonly JsonObject[]): void {
  const header = [...new Set(rows.flatMap(Object.keys))];
  const cells = rows.map((row) => header.map((key) => (Object.hasOwn(row, key) ? toText(row[key]) : '')));
  blocks.push({ kind: 'table', header, rows: cells, page: null });
}

/** Objects that share their keys as far as a table may have empty cells. */
function isTable(value: unknown): value is JsonObject[] {
  if (!Array.isArray(value) || value.length < 2 || !value.every((row) => isJsonObject(row) && Object.values(row).every(isPlain)))
    return false;
  const keys = new Set(value.flatMap(Object.keys));
  return keys.size <= 2 * Math.min(...value.map((row) => Object.keys(row).length));
}

/** Values that fit in a line: no objects, and lists of such values. */
function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((item) => typeof item !== 'object' || item === null);
  return typeof value !== 'object' || value === null;
}

function toText(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join(', ');
  return typeof value === 'string' ? value : String(value);
}
