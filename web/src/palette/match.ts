import { escapePattern } from '#base/escape-pattern.ts';

/** How well a text fits what is written; undefined where a word of it does not fit at all. The more, the better. */
function toFit(text: string, query: string): number | undefined {
  const plain = toPlain(text);
  let fit = 0;
  for (const word of toPlain(query).split(/\s+/).filter(Boolean)) {
    const fitOfWord = fitOf(plain, word);
    if (fitOfWord === 0) return undefined;
    fit += fitOfWord;
  }
  // Of two that fit alike, the shorter one says less that was not asked for.
  return fit - Math.min(plain.length, 500) / 1000;
}

/** Those that fit, the best first; of those that fit alike, the earlier ones first. */
export function best<Item extends { readonly title: string }>(items: readonly Item[], query: string): readonly Item[] {
  const fits = items.flatMap((item) => {
    const fit = toFit(item.title, query);
    return fit === undefined ? [] : [{ item, fit }];
  });
  return fits.sort((one, other) => other.fit - one.fit).map(({ item }) => item);
}

function fitOf(text: string, word: string): number {
  const at = text.indexOf(word);
  const words = text.split(/[^\p{L}\p{N}]+/u);
  const whole = words.includes(word) ? 1 : 0;
  if (at === 0) return 8 + whole;
  if (at > 0) return words.some((each) => each.startsWith(word)) ? 6 + whole : 3;
  return hasLettersOf(text, word) ? 1 : 0;
}

/** Whether the letters follow one another from the beginning of a word on, with no more than a few left out between two. */
function hasLettersOf(text: string, word: string): boolean {
  const escaped = [...word].map(escapePattern);
  return word.length > 1 && new RegExp(`(?<![\\p{L}\\p{N}])${escaped.join('.{0,7}?')}`, 'u').test(text);
}

/** Without accents, and small. */
function toPlain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}
