import { isJsonObject, JsonError, type JsonObject, parseJson } from '#base/json/json.ts';
import { readCsvRows } from '#base/text/csv-rows.ts';
import { trimEnd } from '#base/text/truncate.ts';
import { type Block, DocumentError, type LoadBounds, type LoadedBlocks } from './loader.ts';
import { decodeText, type FileLabel, type Format, sniffFormat } from './sniff-format.ts';

const maxHeadingLength = 80;
const textUnderline = /^(=|-|~|\*){3,}$/;
const numberedHeading = /^(\d+(?:\.\d+)*)[.)]?\s+\p{Lu}/u;
const jsonBounds = { maxDepth: 64, maxNodes: 5_000_000, allowsProto: true };
const maxHeadingDepth = 4;
const headingPrefix = /^ {0,3}(#{1,6})\s/;
const markdownUnderline = /^ {0,3}(=+|-+)\s*$/;
const fence = /^ {0,3}(`{3,}|~{3,})/;
const tableRuleCell = /^:?-+:?$/;

type Loader = (bytes: Uint8Array, bounds: LoadBounds) => LoadedBlocks | Promise<LoadedBlocks>;

/** Loaders with libraries are imported on first use. */
const loaders: Readonly<Record<Format, () => Promise<Loader>>> = {
  txt: async () => loadText,
  md: async () => loadMarkdown,
  html: async () => (await import('./load-html.ts')).loadHtml,
  csv: async () => loadCsv,
  json: async () => loadJson,
  pdf: async () => (await import('./load-pdf.ts')).loadPdf,
  docx: async () => (await import('./load-docx.ts')).loadDocx,
  xlsx: async () => (await import('./load-xlsx.ts')).loadXlsx,
  pptx: async () => (await import('./load-pptx.ts')).loadPptx,
};

/** Loads the blocks of a file in any supported format. Throws `DocumentError`. */
export async function loadBytes(
  bytes: Uint8Array,
  label: FileLabel,
  bounds: LoadBounds,
): Promise<LoadedBlocks & { readonly format: Format }> {
  const format = sniffFormat(bytes, label);
  if (bytes.length === 0) return { title: '', blocks: [], format };
  try {
    return { ...(await (await loaders[format]())(bytes, bounds)), format };
  } catch (cause) {
    throw cause instanceof DocumentError
      ? cause
      : new DocumentError(`The file is damaged: it cannot be read as ${format}.`, { cause });
  }
}

/** Loads values separated by commas, semicolons, tabs, or bars. The first row is the header. */
function loadCsv(bytes: Uint8Array): LoadedBlocks {
  const [header = [], ...rows] = readCsvRows(decodeText(bytes));
  return { title: '', blocks: header.length === 0 ? [] : [{ kind: 'table', header, rows, page: null }] };
}

/**
 * Loads plain text. Empty lines separate paragraphs, and form feeds separate pages. A line becomes a heading if it is
 * underlined, or if it looks like a heading and is the only line of its paragraph.
 */
function loadText(bytes: Uint8Array): LoadedBlocks {
  const pages = decodeText(bytes).split('\f');
  const blocks = pages.flatMap((page, index) => toBlocks(page, pages.length > 1 ? index + 1 : null));
  const [first] = blocks;
  return { title: first?.kind === 'heading' ? first.text : '', blocks };
}

function toBlocks(text: string, page: number | null): Block[] {
  // Pattern bound: runs in the document process, which has a time limit.
  return text.split(/\r?\n[^\S\n]*\r?\n/).flatMap((paragraph) => splitParagraph(paragraph.replace(/^\s*\n/, '').trimEnd(), page));
}

function splitParagraph(paragraph: string, page: number | null): Block[] {
  if (paragraph.trim() === '') return [];
  const [line = '', below = '', ...lowerLines] = paragraph.split(/\r?\n/);
  if (textUnderline.test(below.trim()) && line.trim().length <= maxHeadingLength) {
    const heading: Block = { kind: 'heading', level: below.startsWith('=') ? 1 : 2, text: line.trim(), page };
    return [heading, ...splitParagraph(lowerLines.join('\n'), page)];
  }
  if (below !== '' || line.length > maxHeadingLength || /[.,;:!?]$/.test(line)) return [{ kind: 'text', text: paragraph, page }];
  const level = getHeadingLevel(line.trim());
  return [level === undefined ? { kind: 'text', text: paragraph, page } : { kind: 'heading', level, text: line.trim(), page }];
}

function getHeadingLevel(line: string): number | undefined {
  const number = numberedHeading.exec(line)?.[1];
  if (number !== undefined) return number.split('.').length + 1;
  // Pattern bound: runs in the document process, which has a time limit.
  const isCapitals = /\b\p{Lu}{3,}\b/u.test(line) && line === line.toUpperCase();
  return isCapitals ? 1 : undefined;
}

/**
 * Loads JSON. A list of flat objects becomes a table, keys of objects become headings, and other values become lines of `key:
 * value`.
 */
function loadJson(bytes: Uint8Array): LoadedBlocks {
  const blocks: Block[] = [];
  addValue(blocks, parse(decodeText(bytes)), []);
  return { title: '', blocks };
}

function parse(text: string): unknown {
  try {
    return parseJson(text, jsonBounds);
  } catch (cause) {
    throw new DocumentError(`It is not valid JSON: ${cause instanceof JsonError ? cause.message : 'it is damaged'}.`, {
      cause,
    });
  }
}

function addValue(blocks: Block[], value: unknown, path: readonly string[]): void {
  if (path.length > 0 && path.length <= maxHeadingDepth && !isPlain(value)) {
    blocks.push({ kind: 'heading', level: path.length, text: path.at(-1) ?? '', page: null });
  }
  if (isTable(value)) addTable(blocks, value);
  else if (isPlain(value)) addLines(blocks, [toLine(path.at(-1), value)]);
  else addEntries(blocks, value as JsonObject | readonly unknown[], path);
}

function addEntries(blocks: Block[], value: JsonObject | readonly unknown[], path: readonly string[]): void {
  const entries = Object.entries(value);
  const isList = Array.isArray(value);
  const plainEntries = entries.filter(([, item]) => isPlain(item));
  addLines(
    blocks,
    plainEntries.map(([key, item]) => toLine(isList ? undefined : key, item)),
  );
  for (const [key, item] of entries) if (!isPlain(item)) addValue(blocks, item, [...path, isList ? getItemName(item, key) : key]);
}

/** Returns the title, name, or ID of a list item, otherwise its number. */
function getItemName(item: unknown, key: string): string {
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

/** Returns whether the value is a list of flat objects with sufficiently similar keys. Empty cells are allowed. */
function isTable(value: unknown): value is JsonObject[] {
  if (!Array.isArray(value) || value.length < 2 || !value.every((row) => isJsonObject(row) && Object.values(row).every(isPlain)))
    return false;
  const keys = new Set(value.flatMap(Object.keys));
  return value.every((row) => keys.size <= 2 * Object.keys(row).length);
}

/** Returns whether the value fits in one line: it is no object, and no list with objects or lists. */
function isPlain(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((item) => typeof item !== 'object' || item === null);
  return typeof value !== 'object' || value === null;
}

function toText(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join(', ');
  return typeof value === 'string' ? value : String(value);
}

/** Loads Markdown. Headings and tables become blocks, and other text stays unchanged. */
function loadMarkdown(bytes: Uint8Array): LoadedBlocks {
  const reader = new MarkdownReader(decodeText(bytes).split(/\r?\n/));
  const blocks = reader.readBlocks();
  return { title: blocks.find((block) => block.kind === 'heading')?.text ?? '', blocks };
}

class MarkdownReader {
  readonly #lines: readonly string[];
  readonly #blocks: Block[] = [];
  #paragraph: string[] = [];
  #index = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  readBlocks(): Block[] {
    for (; this.#index < this.#lines.length; this.#index += 1) this.#readLine(this.#lines[this.#index] ?? '');
    this.#flush();
    return this.#blocks;
  }

  #readLine(line: string): void {
    const fenceMark = fence.exec(line)?.[1];
    const headingMatch = headingPrefix.exec(line);
    const underlineMark = markdownUnderline.exec(line)?.[1];
    if (fenceMark !== undefined) this.#readFenced(fenceMark);
    else if (headingMatch !== null)
      this.#addHeading(headingMatch[1]?.length ?? 1, trimEnd(line.slice(headingMatch[0].length).trim(), '#'));
    else if (underlineMark !== undefined && this.#paragraph.length === 1)
      this.#addHeading(underlineMark.startsWith('=') ? 1 : 2, this.#paragraph.pop() ?? '');
    else if (line.includes('|') && isTableRule(this.#lines[this.#index + 1] ?? '')) this.#readTable();
    else if (line.trim() === '') this.#flush();
    else this.#paragraph.push(line);
  }

  #addHeading(level: number, text: string): void {
    this.#flush();
    if (text.trim() !== '') this.#blocks.push({ kind: 'heading', level, text: text.trim(), page: null });
  }

  #readFenced(opening: string): void {
    const from = this.#index;
    const isEnd = (line: string): boolean =>
      line.trim().startsWith(opening) && line.trim().replaceAll(opening[0] ?? '`', '') === '';
    while (this.#index + 1 < this.#lines.length) {
      this.#index += 1;
      if (isEnd(this.#lines[this.#index] ?? '')) break;
    }
    for (const line of this.#lines.slice(from, this.#index + 1)) this.#paragraph.push(line);
  }

  #readTable(): void {
    this.#flush();
    const header = toCells(this.#lines[this.#index] ?? '');
    const rows: string[][] = [];
    this.#index += 2;
    for (; this.#lines[this.#index]?.includes('|') === true; this.#index += 1) rows.push(toCells(this.#lines[this.#index] ?? ''));
    this.#index -= 1;
    this.#blocks.push({ kind: 'table', header, rows, page: null });
  }

  #flush(): void {
    if (this.#paragraph.length > 0) this.#blocks.push({ kind: 'text', text: this.#paragraph.join('\n'), page: null });
    this.#paragraph = [];
  }
}

function toCells(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.replaceAll('\\|', '|').trim());
}

/** Returns whether a line is the rule under the head of a table, such as `| --- | :-: |`. */
function isTableRule(line: string): boolean {
  const rule = line.trim();
  const from = rule.startsWith('|') ? 1 : 0;
  const end = rule.length > 1 && rule.endsWith('|') ? -1 : undefined;
  return rule
    .slice(from, end)
    .split('|')
    .every((cell) => tableRuleCell.test(cell.trim()));
}
