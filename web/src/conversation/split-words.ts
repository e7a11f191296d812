/** Splits a query into lowercase words. */
export function splitWords(query: string): readonly string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean);
}

/** Whether a lowercase text contains every word. */
export function includesAll(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word));
}
