/** Builds a case-insensitive pattern of words, longest first. Returns undefined if there are no words. */
export function toWordPattern(words: readonly string[]): RegExp | undefined {
  const sortedWords = words.toSorted((left, right) => right.length - left.length);
  const patterns = sortedWords.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  // Pattern bound: escaped words of a search field, in the tab of the user.
  return patterns.length === 0 ? undefined : new RegExp(patterns.join('|'), 'giu');
}
