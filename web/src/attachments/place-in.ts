import { escapePattern } from '#base/escape-pattern.ts';

/** A passage in the text around it. */
export interface Place {
  readonly before: string;
  readonly passage: string;
  readonly after: string;
}

/** Of a long document, what stands around a passage. */
const mostCharsAround = 20_000;
const mostWords = 2_000;
/** As many of its first words say where a passage is that was shortened or joined from pieces. */
const wordsOfBeginning = 12;

/** Where a passage stands in a document; lines may be broken elsewhere. Undefined where it does not. */
export function placeIn(document: string, passage: string): Place | undefined {
  const words = passage.trim().split(/\s+/).slice(0, mostWords);
  if (words[0] === '') return undefined;
  const found = find(document, words) ?? find(document, words.slice(0, wordsOfBeginning));
  if (found === undefined) return undefined;
  const [from, to] = found;
  const [start, end] = [Math.max(0, from - mostCharsAround), Math.min(document.length, to + mostCharsAround)];
  return {
    before: `${start > 0 ? '… ' : ''}${document.slice(start, from)}`,
    passage: document.slice(from, to),
    after: `${document.slice(to, end)}${end < document.length ? ' …' : ''}`,
  };
}

function find(document: string, words: readonly string[]): readonly [number, number] | undefined {
  // Pattern bound: the user's own tab: escaped words of a quotation.
  const match = new RegExp(words.map(escapePattern).join('\\s+')).exec(document);
  return match === null ? undefined : [match.index, match.index + match[0].length];
}
