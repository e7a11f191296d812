import type { Token } from 'marked';
import { grown } from './grown-block.ts';
import { toBlocks } from './lexer.ts';

/** Definitions of links stand anywhere and hold everywhere, so that only the whole text tells what a link means. */
// Pattern bound: linear. It starts at a line break and ends before the next one.
const hasDefinitions = /^ {0,3}\[[^\]\n]+\]:\s*\S/m;

/** A number of which the dot is yet to come: with it, it goes on with the list before. */
const mayBecomeItem = /^ {0,3}\d{1,9}$/;

/**
 * The blocks of a text that grows at its end. Only what is not settled is read anew; blocks that are settled keep their identity,
 * so that what draws them need not draw again.
 */
export class GrowingBlocks {
  readonly #lex: typeof toBlocks;
  #text = '';
  #settled: readonly Token[] = [];
  #settledChars = 0;
  /** The first block that is not settled, as it was read last. */
  #first: Token | undefined;

  /** `lex`: reads a text anew. */
  constructor(lex: typeof toBlocks = toBlocks) {
    this.#lex = lex;
  }

  /** `isGrowing`: more may come. */
  read(source: string, isGrowing: boolean): readonly Token[] {
    const text = source.includes('\r') ? source.replace(/\r\n?/g, '\n') : source;
    if (!text.startsWith(this.#text)) this.#forget();
    this.#text = text;
    if (!isGrowing && hasDefinitions.test(text)) return this.#lex(text);
    const unsettled = text.slice(this.#settledChars);
    const open = grown(this.#first, unsettled, this.#lex) ?? this.#lex(unsettled);
    const all = [...this.#settled, ...open];
    const last = open.findLastIndex(({ type }) => type !== 'space');
    const settled = mayBecomeItem.test(open[last]?.raw ?? '') ? [] : open.slice(0, Math.max(last, 0));
    this.#first = open[settled.length];
    if (settled.length > 0) {
      this.#settled = [...this.#settled, ...settled];
      this.#settledChars += settled.reduce((sum, { raw }) => sum + raw.length, 0);
    }
    return all;
  }

  #forget(): void {
    this.#settled = [];
    this.#settledChars = 0;
    this.#first = undefined;
  }
}
