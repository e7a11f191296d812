import { readCsvRows } from '#base/text/csv-rows.ts';
import type { Block, LoadBounds, LoadedBlocks } from './block.ts';
import { decodeText } from './decode-text.ts';
import { DocumentFault } from './document-fault.ts';
import { type FileLabel, type Format, sniffFormat } from './sniff-format.ts';

const maxHeadingLength = 80;
const underlined = /^(=|-|~|\*){3,}$/;
const numbered = /^(\d+(?:\.\d+)*)[.)]?\s+\p{Lu}/u;

type Loader = (bytes: Uint8Array, bounds: LoadBounds) => LoadedBlocks | Promise<LoadedBlocks>;

/** Loaders with libraries are imported when first needed. */
const loaders: Readonly<Record<Format, () => Promise<Loader>>> = {
  txt: async () => loadText,
  md: async () => (await import('./load-markdown.ts')).loadMarkdown,
  html: async () => (await import('./load-html.ts')).loadHtml,
  csv: async () => loadCsv,
  json: async () => (await import('./load-json.ts')).loadJson,
  pdf: async () => (await import('./load-pdf.ts')).loadPdf,
  docx: async () => (await import('./load-docx.ts')).loadDocx,
  xlsx: async () => (await import('./load-xlsx.ts')).loadXlsx,
  pptx: async () => (await import('./load-pptx.ts')).loadPptx,
};

/** The blocks of a file of any format that is read. Throws DocumentFault. */
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
    throw cause instanceof DocumentFault
      ? cause
      : new DocumentFault(`The file is damaged: it cannot be read as ${format}.`, { cause });
  }
}

/** Values separated by commas, semicolons, tabs, or bars; the first row is the header. */
function loadCsv(bytes: Uint8Array): LoadedBlocks {
  const [header = [], ...rows] = readCsvRows(decodeText(bytes));
  return { title: '', blocks: header.length === 0 ? [] : [{ kind: 'table', header, rows, page: null }] };
}

/** Plain text: paragraphs by empty lines, pages by form feeds; lines that stand alone and look like headings are some. */
function loadText(bytes: Uint8Array): LoadedBlocks {
  const pages = decodeText(bytes).split('\f');
  const blocks = pages.flatMap((page, index) => toBlocks(page, pages.length > 1 ? index + 1 : null));
  const [first] = blocks;
  return { title: first?.kind === 'heading' ? first.text : '', blocks };
}

function toBlocks(text: string, page: number | null): Block[] {
  // Pattern bound: runs in the document process, which has a time limit.
  return text.split(/\r?\n[^\S\n]*\r?\n/).flatMap((paragraph) => toBlock(paragraph.replace(/^\s*\n/, '').trimEnd(), page));
}

function toBlock(paragraph: string, page: number | null): Block[] {
  if (paragraph.trim() === '') return [];
  const [line = '', below = '', ...more] = paragraph.split(/\r?\n/);
  if (underlined.test(below.trim()) && line.trim().length <= maxHeadingLength) {
    const heading: Block = { kind: 'heading', level: below.startsWith('=') ? 1 : 2, text: line.trim(), page };
    return [heading, ...toBlock(more.join('\n'), page)];
  }
  if (below !== '' || line.length > maxHeadingLength || /[.,;:!?]$/.test(line)) return [{ kind: 'text', text: paragraph, page }];
  const level = headingLevel(line.trim());
  return [level === undefined ? { kind: 'text', text: paragraph, page } : { kind: 'heading', level, text: line.trim(), page }];
}

function headingLevel(line: string): number | undefined {
  const number = numbered.exec(line)?.[1];
  if (number !== undefined) return number.split('.').length + 1;
  // Pattern bound: runs in the document process, which has a time limit.
  const isCapitals = /\b\p{Lu}{3,}\b/u.test(line) && line === line.toUpperCase();
  return isCapitals ? 1 : undefined;
}
