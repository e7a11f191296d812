/** Builds a case-insensitive pattern of words, the longest first. Undefined if there are none. */
export function toWordPattern(words: readonly string[]): RegExp | undefined {
  const sortedWords = words.toSorted((left, right) => right.length - left.length);
  const patterns = sortedWords.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  // Pattern bound: the user's own tab: escaped words of a search field.
  return patterns.length === 0 ? undefined : new RegExp(patterns.join('|'), 'giu');
}
