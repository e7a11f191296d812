import { escapePattern } from '#base/text/find-text.ts';

/** Builds a case-insensitive pattern of words, longest first. Returns undefined if there are no words. */
export function toWordPattern(words: readonly string[]): RegExp | undefined {
  const sortedWords = words.toSorted((left, right) => right.length - left.length);
  // Pattern bound: runs in the user's own tab, on escaped words of a search field.
  return sortedWords.length === 0 ? undefined : new RegExp(sortedWords.map(escapePattern).join('|'), 'giu');
}
