/** The text as a regular expression that matches just it, with and without the flag `u`. */
export function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
