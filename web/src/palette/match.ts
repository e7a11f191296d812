import { escapePattern } from '#base/escape-pattern.ts';

/** A word of what is written. */
interface Asked {
  readonly word: string;
  /** Its letters one after the other from the beginning of a word on, with no more than a few left out between two. */
  readonly letters: RegExp | undefined;
}

/** Those that fit, the best first; of those that fit alike, the earlier ones first. */
export function best<Item extends { readonly title: string }>(items: readonly Item[], query: string): readonly Item[] {
  const asked = toPlain(query).split(/\s+/).filter(Boolean).map(toAsked);
  const fits = items.flatMap((item) => {
    const fit = toFit(item.title, asked);
    return fit === undefined ? [] : [{ item, fit }];
  });
  return fits.sort((one, other) => other.fit - one.fit).map(({ item }) => item);
}

function toAsked(word: string): Asked {
  const escaped = [...word].map(escapePattern);
  // Pattern bound: the user's own tab: one escaped word of a search field.
  const letters = word.length > 1 ? new RegExp(`(?<![\\p{L}\\p{N}])${escaped.join('.{0,7}?')}`, 'u') : undefined;
  return { word, letters };
}

/** How well a text fits what is written; undefined where a word of it does not fit at all. The more, the better. */
function toFit(text: string, asked: readonly Asked[]): number | undefined {
  const plain = toPlain(text);
  let fit = 0;
  for (const each of asked) {
    const fitOfWord = fitOf(plain, each);
    if (fitOfWord === 0) return undefined;
    fit += fitOfWord;
  }
  // Of two that fit alike, the shorter one says less that was not asked for.
  return fit - Math.min(plain.length, 500) / 1000;
}

function fitOf(text: string, { word, letters }: Asked): number {
  const at = text.indexOf(word);
  if (at === -1) return letters?.test(text) === true ? 1 : 0;
  const words = text.split(/[^\p{L}\p{N}]+/u);
  const whole = words.includes(word) ? 1 : 0;
  if (at === 0) return 8 + whole;
  return words.some((each) => each.startsWith(word)) ? 6 + whole : 3;
}

/** Without accents, and small. */
function toPlain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}
