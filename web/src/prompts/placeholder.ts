/** Returns the next placeholder of a prompt, such as `{{city}}`, after a position. Returns undefined if no placeholder follows. */
export function findPlaceholder(text: string, from = 0): { readonly start: number; readonly end: number } | undefined {
  const pattern = /\{\{[^{}\n]{1,60}\}\}/g;
  pattern.lastIndex = from;
  const match = pattern.exec(text);
  return match === null ? undefined : { start: match.index, end: match.index + match[0].length };
}
