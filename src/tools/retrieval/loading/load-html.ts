import { parseHTML } from 'linkedom';
import type { Block, LoadedBlocks, TableBlock } from './loader.ts';
import { decodeText } from './sniff-format.ts';

// Pattern bound: runs in the document process, which has a time limit.
const charsetPattern = /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i;

/** Loads the headings, tables, and visible text of a web page. */
export function loadHtml(bytes: Uint8Array): LoadedBlocks {
  return readHtml(decode(bytes));
}

/** Loads decoded HTML. `pageMark` separates pages. */
export function readHtml(html: string, pageMark?: string): LoadedBlocks {
  const { document } = parseHTML(html);
  const reader = new ElementReader(pageMark);
  reader.walk(document);
  const blocks = reader.finish();
  const title = document.querySelector('title')?.textContent.trim() ?? '';
  return { title: title || (blocks.find((block) => block.kind === 'heading')?.text ?? ''), blocks };
}

/** Uses the charset that the page declares, unless it is UTF-8, UTF-16, or unknown. */
function decode(bytes: Uint8Array): string {
  const text = decodeText(bytes);
  const declaredCharset = charsetPattern.exec(text.slice(0, 2048))?.[1];
  if (declaredCharset === undefined || /^(utf-?8|utf-?16)/i.test(declaredCharset)) return text;
  try {
    return new TextDecoder(declaredCharset).decode(bytes);
  } catch {
    return text;
  }
}

/** The properties of a DOM node that are used here. */
interface DomNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly textContent: string | null;
  readonly childNodes: Iterable<DomNode>;
}

const elementNode = 1;
const textNode = 3;
const hiddenTags = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'SVG', 'IFRAME', 'OBJECT', 'SELECT', 'BUTTON']);
const inlineTags = new Set(
  'A ABBR B BDI BDO CITE CODE DATA DEL DFN EM FONT I INS KBD LABEL MARK Q S SAMP SMALL SPAN STRIKE STRONG SUB SUP TIME TT U VAR WBR'.split(
    ' ',
  ),
);
const headingPattern = /^H([1-6])$/;

/** Reads the headings, tables, and texts of a document in order. */
class ElementReader {
  readonly #pageMark: string | undefined;
  readonly #blocks: Block[] = [];
  #text = '';
  #page: number | null;
  #isPreformatted = false;

  constructor(pageMark: string | undefined) {
    this.#pageMark = pageMark;
    this.#page = pageMark === undefined ? null : 1;
  }

  finish(): Block[] {
    this.#flush();
    return this.#blocks;
  }

  walk(node: DomNode): void {
    for (const child of node.childNodes) {
      if (child.nodeType === textNode) this.#addText(child.textContent ?? '');
      else if (child.nodeType === elementNode) this.#enter(child);
    }
  }

  #enter(element: DomNode): void {
    const name = element.nodeName.toUpperCase();
    const level = headingPattern.exec(name)?.[1];
    if (hiddenTags.has(name)) return;
    if (name === 'BR') this.#text += '\n';
    else if (inlineTags.has(name)) this.walk(element);
    else if (level !== undefined) this.#addHeading(element, Number(level));
    else if (name === 'TABLE' && isDataTable(element)) this.#addTable(element);
    else this.#addBlock(element, name);
  }

  #addBlock(element: DomNode, name: string): void {
    this.#flush();
    if (name === 'LI') this.#text = '- ';
    const wasPreformatted = this.#isPreformatted;
    this.#isPreformatted ||= name === 'PRE';
    this.walk(element);
    this.#flush();
    this.#isPreformatted = wasPreformatted;
  }

  #addHeading(element: DomNode, level: number): void {
    this.#flush();
    const text = normalizeSpace(this.#consumePageMarks(getText(element)));
    if (text !== '') this.#blocks.push({ kind: 'heading', level, text, page: this.#page });
  }

  #addTable(element: DomNode): void {
    this.#flush();
    const rows = listRows(element).map((row) =>
      listCells(row).map((cell) => normalizeSpace(this.#consumePageMarks(getText(cell)))),
    );
    const [header = [], ...bodyRows] = rows.filter((cells) => cells.some((cell) => cell !== ''));
    const table: TableBlock = { kind: 'table', header, rows: bodyRows, page: this.#page };
    if (header.length > 0) this.#blocks.push(table);
  }

  #addText(text: string): void {
    const normalized = this.#isPreformatted ? text : text.replace(/\s+/g, ' ');
    const [first = '', ...laterParts] = this.#pageMark === undefined ? [normalized] : normalized.split(this.#pageMark);
    this.#text += first;
    for (const part of laterParts) {
      this.#flush();
      this.#page = (this.#page ?? 0) + 1;
      this.#text = part;
    }
  }

  #consumePageMarks(text: string): string {
    if (this.#pageMark === undefined) return text;
    const parts = text.split(this.#pageMark);
    this.#page = (this.#page ?? 0) + parts.length - 1;
    return parts.join('');
  }

  #flush(): void {
    const text = (this.#isPreformatted ? this.#text : trimLines(this.#text)).trim();
    this.#text = '';
    if (text !== '' && text !== '-') this.#blocks.push({ kind: 'text', text, page: this.#page });
  }
}

function getText(element: DomNode): string {
  let text = '';
  for (const child of element.childNodes) {
    if (child.nodeType === textNode) text += child.textContent ?? '';
    else if (child.nodeType === elementNode && !hiddenTags.has(child.nodeName.toUpperCase())) {
      const isInline = inlineTags.has(child.nodeName.toUpperCase());
      text += isInline ? getText(child) : ` ${getText(child)} `;
    }
  }
  return text;
}

function normalizeSpace(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Whether the table contains data. Tables with nested tables or a single column are treated as page layout. */
function isDataTable(table: DomNode): boolean {
  const rows = listRows(table);
  return (
    rows.length > 1 && rows.some((row) => listCells(row).length > 1) && !rows.some((row) => listCells(row).some(containsTable))
  );
}

function containsTable(node: DomNode): boolean {
  return [...node.childNodes].some((child) => child.nodeName.toUpperCase() === 'TABLE' || containsTable(child));
}

function listRows(table: DomNode): DomNode[] {
  return [...table.childNodes].flatMap((child) => {
    const name = child.nodeName.toUpperCase();
    if (name === 'TR') return [child];
    return ['THEAD', 'TBODY', 'TFOOT'].includes(name) ? listRows(child) : [];
  });
}

function listCells(row: DomNode): DomNode[] {
  return [...row.childNodes].filter(({ nodeName }) => /^t[dh]$/i.test(nodeName));
}

function trimLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .join('\n');
}
