import { findText } from './find-text.ts';

/** Returns the text without these characters at its end. A pattern such as `/x+$/` would take quadratic time. */
export function trimEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/**
 * Returns the text, or its first `maxChars` characters and an ellipsis if it is longer. Half a surrogate pair at the end becomes
 * U+FFFD, because vendors reject lone surrogates.
 */
export function truncate(text: string, maxChars: number): string {
  return text.length > maxChars ? `${text.slice(0, maxChars).toWellFormed()}…` : text;
}

const excerptChars = 160;
const charsBefore = 40;
// Pattern bound: linear. Inside a run of asterisks, the next asterisk is not a space, so every search succeeds.
/** Markdown syntax that has no meaning in a single line of plain text: quotes, list items, headings, emphasis, and code. */
const markupPattern = /^(?:[ \t]*>)+[ \t]*(?:[-+*] |#+ )?|^[ \t]*(?:[-+*]|#+) |(?<!\w)\*+(?=\S)|(?<=\S)\*+(?!\w)|`+/gm;

/**
 * Returns one line around the position with the most different words, or undefined if no word occurs. `words` must be in lower
 * case.
 */
export function createExcerpt(text: string, words: readonly string[]): string | undefined {
  const plain = text.replace(markupPattern, '').replace(/\[([^[\]]*)\]\([^\s()]{0,1000}\)/g, '$1');
  const lower = plain.toLowerCase();
  const positions = words.map((word) => findText(lower, word)).filter((position) => position >= 0);
  const [first] = positions.toSorted((left, right) => countNear(positions, right) - countNear(positions, left) || left - right);
  if (first === undefined) return undefined;
  const from = findWordStart(plain, Math.max(0, first - charsBefore), first);
  const to = Math.min(plain.length, from + excerptChars);
  const line = plain.slice(from, to).replace(/\s+/g, ' ').trim();
  return `${from > 0 ? '…' : ''}${line}${to < plain.length ? '…' : ''}`;
}

/** Returns the number of positions that are in an excerpt around `from`. */
function countNear(positions: readonly number[], from: number): number {
  return positions.filter((position) => position >= from && position < from + excerptChars - charsBefore).length;
}

/** Returns the start of the first word between two positions. */
function findWordStart(text: string, from: number, to: number): number {
  if (from === 0) return 0;
  const gap = text.slice(from, to).search(/\s/);
  return gap < 0 ? to : from + gap + 1;
}

/** Returns an excerpt of the text that `findBest` selects, or undefined if no word occurs. */
export function createExcerptOfTexts(texts: readonly string[], words: readonly string[]): string | undefined {
  const best = texts[findBest(texts, words)];
  return best === undefined ? undefined : createExcerpt(best, words);
}

/** Returns the index of the first text that contains the most words, or -1 if no text contains any. */
export function findBest(texts: readonly string[], words: readonly string[]): number {
  const counts = texts.map((text) => {
    const lower = text.toLowerCase();
    return words.filter((word) => findText(lower, word) !== -1).length;
  });
  const maxCount = Math.max(0, ...counts);
  return maxCount === 0 ? -1 : counts.indexOf(maxCount);
}
