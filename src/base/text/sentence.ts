/** Returns the text with its first letter in upper case. */
export function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Returns the text as a sentence: with its first letter in upper case and a full stop, unless it ends with one or with `?`. */
export function toSentence(text: string): string {
  return `${capitalize(text)}${/[.?]$/.test(text) ? '' : '.'}`;
}
