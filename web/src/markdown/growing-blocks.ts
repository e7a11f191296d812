import type { Token } from 'marked';
import { toBlocks } from './lexer.ts';

/** Definitions of links stand anywhere and hold everywhere, so that only the whole text tells what a link means. */
const hasDefinitions = /^ {0,3}\[[^\]\n]+\]:\s*\S/m;

/**
 * The blocks of a text that grows at its end. Only what is not settled is read anew; blocks that are settled keep their identity,
 * so that what draws them need not draw again.
 */
export class GrowingBlocks {
  #text = '';
  #settled: readonly Token[] = [];
  #settledChars = 0;

  /** `isGrowing`: more may come. */
  read(text: string, isGrowing: boolean): readonly Token[] {
    if (!text.startsWith(this.#text)) this.#forget();
    this.#text = text;
    if (!isGrowing && hasDefinitions.test(text)) return toBlocks(text);
    const open = toBlocks(text.slice(this.#settledChars));
    const all = [...this.#settled, ...open];
    const last = open.findLastIndex(({ type }) => type !== 'space');
    if (last > 0) {
      const settled = open.slice(0, last);
      this.#settled = [...this.#settled, ...settled];
      this.#settledChars += settled.reduce((sum, { raw }) => sum + raw.length, 0);
    }
    return all;
  }

  #forget(): void {
    this.#settled = [];
    this.#settledChars = 0;
  }
}
