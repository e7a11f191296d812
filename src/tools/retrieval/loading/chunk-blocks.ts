import type { Passage } from '#domain/tools/passage-index.ts';
import type { Block, TableBlock } from './block.ts';

/** Tokens of a passage, without its headings: with them it is still within what a small model of sentences reads. */
export const passageTokens = 160;
const headerTokens = 60;
const maxDepth = 6;
const longestHeading = 200;
const perWordChar = 0.25;
const perOtherChar = 0.5;

/** Cuts a document into passages: none goes over a heading or a page, each row of a table stands under its header. */
export function chunkBlocks(blocks: readonly Block[]): Passage[] {
  const chunker = new Chunker();
  for (const block of blocks) chunker.take(block);
  return chunker.done();
}

interface Heading {
  readonly level: number;
  readonly text: string;
  readonly page: number | null;
}

class Chunker {
  readonly #passages: Passage[] = [];
  #headings: Heading[] = [];
  /** Whether nothing stands under the innermost heading yet. */
  #isBare = false;
  #lines: string[] = [];
  #tokens = 0;
  #page: number | null = null;

  take(block: Block): void {
    if (block.page !== this.#page) this.#flush();
    if (block.kind === 'heading') this.#head(block);
    else this.#fill(block);
  }

  done(): Passage[] {
    this.#flush();
    this.#keepBare();
    return this.#passages;
  }

  #fill(block: Exclude<Block, { kind: 'heading' }>): void {
    this.#page = block.page;
    if (block.kind === 'table') this.#table(block);
    else for (const piece of splitText(block.text, passageTokens)) this.#add(piece);
  }

  #head({ level, text, page }: Heading): void {
    this.#flush();
    const innermost = this.#headings.at(-1);
    if (innermost !== undefined && innermost.level >= level) this.#keepBare();
    this.#headings = [...this.#headings.filter((each) => each.level < level), { level, text, page }].slice(-maxDepth);
    this.#isBare = true;
    this.#page = page;
  }

  /** A heading with nothing under it would be lost, as would one that is too long to be repeated. */
  #keepBare(): void {
    const innermost = this.#headings.at(-1);
    if (!this.#isBare || innermost === undefined) return;
    for (const piece of splitText(innermost.text, passageTokens)) this.#put(piece, innermost.page);
  }

  #table({ header, rows }: TableBlock): void {
    const shown = toLine(header);
    const isRepeated = rows.length > 0 && roughTokens(shown) <= headerTokens;
    if (!isRepeated) for (const piece of splitText(shown, passageTokens)) this.#add(piece);
    this.#flush();
    for (const row of rows) {
      for (const piece of splitText(toLine(row), passageTokens)) this.#addRow(piece, isRepeated ? shown : undefined);
    }
    this.#flush();
  }

  #addRow(piece: string, header: string | undefined): void {
    const tokens = roughTokens(piece);
    const headers = header === undefined ? 0 : 1;
    if (this.#lines.length > headers && this.#tokens + tokens > passageTokens) this.#flush();
    if (this.#lines.length === 0 && header !== undefined) this.#add(header);
    this.#lines.push(piece);
    this.#tokens += tokens;
  }

  #add(piece: string): void {
    const tokens = roughTokens(piece);
    if (this.#tokens + tokens > passageTokens) this.#flush();
    this.#lines.push(piece);
    this.#tokens += tokens;
  }

  #flush(): void {
    if (this.#lines.length > 0) this.#put(this.#lines.join('\n'), this.#page);
    this.#lines = [];
    this.#tokens = 0;
  }

  #put(text: string, page: number | null): void {
    this.#isBare = false;
    const headings = this.#headings.map((heading) => heading.text.slice(0, longestHeading));
    this.#passages.push({ nth: this.#passages.length, page, headings, text });
  }
}

function toLine(cells: readonly string[]): string {
  return cells.join(' | ');
}

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });
const words = /\S+\s*/g;

/** Cuts a text into pieces of at most so many tokens: between paragraphs, else sentences, else words, else anywhere. Put together again they are the text, but for space at the cuts. */
export function splitText(text: string, maxTokens: number): string[] {
  return split(text, maxTokens, [toLines, toSentences, toWords, toHalves])
    .map((piece) => piece.trimEnd())
    .filter((piece) => piece.trim() !== '');
}

type Cut = (text: string) => string[];

function split(text: string, maxTokens: number, [cut, ...finer]: readonly Cut[]): string[] {
  if (roughTokens(text) <= maxTokens || cut === undefined) return [text];
  const pieces: string[] = [];
  let piece = '';
  let weight = 0;
  for (const part of cut(text)) {
    const more = roughTokens(part);
    if (weight + more > maxTokens && piece !== '') {
      pieces.push(...split(piece, maxTokens, finer));
      piece = '';
      weight = 0;
    }
    piece += part;
    weight += more;
  }
  return [...pieces, ...split(piece, maxTokens, finer)];
}

function toLines(text: string): string[] {
  return text.split(/(?<=\n)/);
}

function toSentences(text: string): string[] {
  return Array.from(sentences.segment(text), ({ segment }) => segment);
}

function toWords(text: string): string[] {
  const [lead = ''] = /^\s*/.exec(text) ?? [];
  return [lead, ...(text.match(words) ?? [])].filter(Boolean);
}

/** Never between the halves of a surrogate pair. */
function toHalves(text: string): string[] {
  return [...text];
}

/**
 * Tokens that a text comes to, near enough to cut it by: four letters or digits of Latin script make one, as do two marks or
 * letters of other alphabets, or one sign of scripts that write a word in one or two.
 */
export function roughTokens(text: string): number {
  let tokens = 0;
  for (let index = 0; index < text.length; index += 1) tokens += tokensOfCode(text.charCodeAt(index));
  return tokens;
}

function tokensOfCode(code: number): number {
  if (code >= 0x2e80) return 1;
  const isWord = (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 32;
  return isWord ? perWordChar : perOtherChar;
}
