/** Finds words in texts, whatever their case, the longest first; undefined for none. */
export function toWordPattern(words: readonly string[]): RegExp | undefined {
  const longestFirst = words.toSorted((one, other) => other.length - one.length);
  const known = longestFirst.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  // Pattern bound: the user's own tab: escaped words of a search field.
  return known.length === 0 ? undefined : new RegExp(known.join('|'), 'giu');
}
