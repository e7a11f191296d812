/** The words of a query, in lower case. */
export function splitWords(query: string): readonly string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean);
}

/** Whether every word stands in a text of lower case. */
export function includesAll(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word));
}
