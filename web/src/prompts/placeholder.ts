/** The next place of a prompt that is to be filled in, such as `{{city}}`, from a place of the text on; undefined for none. */
export function nextPlaceholder(text: string, from = 0): { readonly start: number; readonly end: number } | undefined {
  const pattern = /\{\{[^{}\n]{1,60}\}\}/g;
  pattern.lastIndex = from;
  const match = pattern.exec(text);
  return match === null ? undefined : { start: match.index, end: match.index + match[0].length };
}
