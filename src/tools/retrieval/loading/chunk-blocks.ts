import type { Passage } from '#domain/tools/passage-index.ts';
import type { Block, TableBlock } from './loader.ts';

/** Maximum number of tokens of a passage without its headings. With headings, it still fits a small embedding model. */
export const passageTokens = 160;
const headerTokens = 60;
const maxDepth = 6;
const maxHeadingChars = 200;
const tokensPerWordChar = 0.25;
const tokensPerOtherChar = 0.5;

/**
 * Splits a document into passages. No passage spans a heading or a page. Each passage of a table starts with the header of the
 * table, unless the header is long.
 */
export function chunkBlocks(blocks: readonly Block[]): Passage[] {
  const chunker = new Chunker();
  for (const block of blocks) chunker.addBlock(block);
  return chunker.finish();
}

interface Heading {
  readonly level: number;
  readonly text: string;
  readonly page: number | null;
}

class Chunker {
  readonly #passages: Passage[] = [];
  #headings: Heading[] = [];
  /** Whether the innermost heading has no content yet. */
  #isBare = false;
  #lines: string[] = [];
  #tokens = 0;
  #page: number | null = null;

  addBlock(block: Block): void {
    if (block.page !== this.#page) this.#flush();
    if (block.kind === 'heading') this.#addHeading(block);
    else this.#addContent(block);
  }

  finish(): Passage[] {
    this.#flush();
    this.#addBareHeading();
    return this.#passages;
  }

  #addContent(block: Exclude<Block, { kind: 'heading' }>): void {
    this.#page = block.page;
    if (block.kind === 'table') this.#addTable(block);
    else for (const piece of splitText(block.text, passageTokens)) this.#add(piece);
  }

  #addHeading({ level, text, page }: Heading): void {
    this.#flush();
    const innermost = this.#headings.at(-1);
    if (innermost !== undefined && innermost.level >= level) this.#addBareHeading();
    this.#headings = [...this.#headings.filter((heading) => heading.level < level), { level, text, page }].slice(-maxDepth);
    this.#isBare = true;
    this.#page = page;
  }

  /** Adds a passage for a heading without content. Its text would be lost otherwise. */
  #addBareHeading(): void {
    const innermost = this.#headings.at(-1);
    if (!this.#isBare || innermost === undefined) return;
    for (const piece of splitText(innermost.text, passageTokens)) this.#addPassage(piece, innermost.page);
  }

  #addTable({ header, rows }: TableBlock): void {
    const headerLine = toLine(header);
    const isRepeated = rows.length > 0 && estimateTokens(headerLine) <= headerTokens;
    if (!isRepeated) for (const piece of splitText(headerLine, passageTokens)) this.#add(piece);
    this.#flush();
    for (const row of rows) {
      for (const piece of splitText(toLine(row), passageTokens)) this.#addRow(piece, isRepeated ? headerLine : undefined);
    }
    this.#flush();
  }

  #addRow(piece: string, header: string | undefined): void {
    const tokens = estimateTokens(piece);
    const headers = header === undefined ? 0 : 1;
    if (this.#lines.length > headers && this.#tokens + tokens > passageTokens) this.#flush();
    if (this.#lines.length === 0 && header !== undefined) this.#add(header);
    this.#lines.push(piece);
    this.#tokens += tokens;
  }

  #add(piece: string): void {
    const tokens = estimateTokens(piece);
    if (this.#tokens + tokens > passageTokens) this.#flush();
    this.#lines.push(piece);
    this.#tokens += tokens;
  }

  #flush(): void {
    if (this.#lines.length > 0) this.#addPassage(this.#lines.join('\n'), this.#page);
    this.#lines = [];
    this.#tokens = 0;
  }

  #addPassage(text: string, page: number | null): void {
    this.#isBare = false;
    const headings = this.#headings.map((heading) => heading.text.slice(0, maxHeadingChars));
    this.#passages.push({ nth: this.#passages.length, page, headings, text });
  }
}

function toLine(cells: readonly string[]): string {
  return cells.join(' | ');
}

const wordPattern = /\S+\s*/g;

/**
 * Splits a text into pieces of at most `maxTokens` tokens: at lines, otherwise sentences, words, or characters. The pieces
 * contain the complete text except for white space at the boundaries.
 */
export function splitText(text: string, maxTokens: number): string[] {
  return split(text, maxTokens, [toLines, toSentences, toWords, toCharacters])
    .map((piece) => piece.trimEnd())
    .filter((piece) => piece.trim() !== '');
}

type Splitter = (text: string) => string[];

function split(text: string, maxTokens: number, [splitter, ...finer]: readonly Splitter[]): string[] {
  if (estimateTokens(text) <= maxTokens || splitter === undefined) return [text];
  const pieces: string[] = [];
  let piece = '';
  let pieceTokens = 0;
  for (const part of splitter(text)) {
    const partTokens = estimateTokens(part);
    if (pieceTokens + partTokens > maxTokens && piece !== '') {
      pieces.push(...split(piece, maxTokens, finer));
      piece = '';
      pieceTokens = 0;
    }
    piece += part;
    pieceTokens += partTokens;
  }
  return [...pieces, ...split(piece, maxTokens, finer)];
}

function toLines(text: string): string[] {
  return text.split(/(?<=\n)/);
}

function toSentences(text: string): string[] {
  const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });
  return Array.from(sentences.segment(text), ({ segment }) => segment);
}

function toWords(text: string): string[] {
  const [lead = ''] = /^\s*/.exec(text) ?? [];
  return [lead, ...(text.match(wordPattern) ?? [])].filter(Boolean);
}

/** Never splits a surrogate pair. */
function toCharacters(text: string): string[] {
  return [...text];
}

/**
 * Estimates the number of tokens of a text. Four ASCII letters or spaces count as one token. So do two characters of other
 * alphabetic scripts, digits, or marks, and one character of a script such as Chinese.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (let index = 0; index < text.length; index += 1) tokens += estimateCodeTokens(text.charCodeAt(index));
  return tokens;
}

function estimateCodeTokens(code: number): number {
  if (code >= 0x2e80) return 1;
  const isWord = (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 32;
  return isWord ? tokensPerWordChar : tokensPerOtherChar;
}
