/** Finds words in texts, whatever their case, the longest first; undefined for none. */
export function toWordPattern(words: readonly string[]): RegExp | undefined {
  const sortedWords = words.toSorted((left, right) => right.length - left.length);
  const patterns = sortedWords.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  // Pattern bound: the user's own tab: escaped words of a search field.
  return patterns.length === 0 ? undefined : new RegExp(patterns.join('|'), 'giu');
}
