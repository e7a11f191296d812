import { extractTextItems, getDocumentProxy, type StructuredTextItem } from 'unpdf';
import { type Block, DocumentError, type LoadBounds, type LoadedBlocks } from './loader.ts';

/** Minimum ratio of a heading's font size to the font size of the body text. */
const headingFactor = 1.15;
const maxHeadingChars = 150;
/** Minimum distance of lines of different paragraphs, as a multiple of the font size. */
const paragraphGap = 1.7;
/** Minimum distance of words in different columns, as a multiple of the font size. */
const columnGap = 1.5;
/** Minimum distance of words in the same column, as a multiple of the font size. */
const wordGap = 0.15;
/** Maximum distance of the baselines of one line, as a multiple of the font size. */
const baselineTolerance = 0.5;

interface Line {
  readonly text: string;
  readonly fontSize: number;
  /** Distance from the bottom of the page. */
  readonly y: number;
}

/** Loads the text of a PDF page by page. Lines in a larger font become headings. */
export async function loadPdf(bytes: Uint8Array, { maxPages }: LoadBounds): Promise<LoadedBlocks> {
  const pdf = await openPdf(bytes);
  const excessPages = pdf.numPages - maxPages;
  if (excessPages > 0) throw new DocumentError(`It has ${pdf.numPages} pages. The limit is ${maxPages}.`);
  const { items } = await extractTextItems(pdf);
  const pages = items.map(toLines);
  const sizes = listHeadingSizes(pages.flat());
  const blocks = pages.flatMap((lines, index) => toBlocks(lines, index + 1, sizes));
  const emptyPages = pages.filter((lines) => lines.length === 0).length;
  if (blocks.length === 0)
    throw new DocumentError('It has no text. It seems to be scanned, and Parley does not read text in images.');
  return {
    title: blocks.find((block) => block.kind === 'heading')?.text ?? '',
    blocks,
    note: emptyPages > 0 ? `${emptyPages} of its ${pages.length} pages have no text. Pictures are not read.` : undefined,
  };
}

async function openPdf(bytes: Uint8Array): ReturnType<typeof getDocumentProxy> {
  try {
    return await getDocumentProxy(bytes, { stopAtErrors: false, verbosity: 0 });
  } catch (cause) {
    const isLocked = cause instanceof Error && cause.name === 'PasswordException';
    throw new DocumentError(isLocked ? 'It is protected by a password.' : 'The file is damaged: it cannot be read as PDF.', {
      cause,
    });
  }
}

function toLines(items: readonly StructuredTextItem[]): Line[] {
  const lines: Line[] = [];
  let line: StructuredTextItem[] = [];
  for (const item of items) {
    const [first] = line;
    const isSameLine = first === undefined || Math.abs(first.y - item.y) <= baselineTolerance * Math.max(first.fontSize, 1);
    if (!isSameLine) lines.push(...joinItems(line));
    line = isSameLine ? [...line, item] : [item];
    if (item.hasEOL) {
      lines.push(...joinItems(line));
      line = [];
    }
  }
  return [...lines, ...joinItems(line)];
}

function joinItems(items: readonly StructuredTextItem[]): Line[] {
  let text = '';
  let end = Number.NaN;
  for (const { str, x, width, fontSize } of items) {
    if (str.trim() === '') {
      text += str === '' ? '' : ' ';
      continue;
    }
    const gap = x - end;
    if (gap > columnGap * fontSize) text = `${text.trimEnd()} | `;
    else if (gap > wordGap * fontSize) text += ' ';
    text += str;
    end = x + width;
  }
  const lineText = text.replace(/\s+/g, ' ').trim();
  const [first] = items;
  return lineText === '' || first === undefined
    ? []
    : [{ text: lineText, fontSize: Math.max(...items.map((item) => item.fontSize)), y: first.y }];
}

/** Returns the font sizes of headings, largest first. They are more than `headingFactor` times the most common size. */
function listHeadingSizes(lines: readonly Line[]): number[] {
  const lengths = new Map<number, number>();
  for (const { text, fontSize } of lines) lengths.set(round(fontSize), (lengths.get(round(fontSize)) ?? 0) + text.length);
  const [body = 0] = [...lengths].sort(([, first], [, second]) => second - first)[0] ?? [];
  return [...lengths.keys()].filter((size) => size > body * headingFactor).sort((first, second) => second - first);
}

function round(size: number): number {
  return Math.round(size * 2) / 2;
}

function toBlocks(lines: readonly Line[], page: number, sizes: readonly number[]): Block[] {
  const blocks: Block[] = [];
  let paragraph: Line[] = [];
  const flush = (): void => {
    if (paragraph.length > 0) blocks.push({ kind: 'text', text: paragraph.map(({ text }) => text).join('\n'), page });
    paragraph = [];
  };
  for (const line of lines) {
    const rank = line.text.length <= maxHeadingChars ? sizes.indexOf(round(line.fontSize)) : -1;
    const previous = paragraph.at(-1);
    if (rank !== -1 || (previous !== undefined && Math.abs(previous.y - line.y) > paragraphGap * line.fontSize)) flush();
    if (rank === -1) paragraph.push(line);
    else addHeading(blocks, { kind: 'heading', level: Math.min(rank + 1, 6), text: line.text, page });
  }
  flush();
  return blocks;
}

/** Adds a heading, or appends it to the previous one, which it continues on another line. */
function addHeading(blocks: Block[], heading: Extract<Block, { kind: 'heading' }>): void {
  const last = blocks.at(-1);
  if (last?.kind !== 'heading' || last.level !== heading.level) blocks.push(heading);
  else blocks[blocks.length - 1] = { ...heading, text: `${last.text} ${heading.text}` };
}
