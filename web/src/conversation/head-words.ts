/** The words of a query, in lower case. */
export function wordsOf(query: string): readonly string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean);
}

/** Whether every word stands in a text of lower case. */
export function hasAll(said: string, words: readonly string[]): boolean {
  return words.every((word) => said.includes(word));
}
