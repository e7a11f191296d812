/** Returns a regular expression source that matches exactly this text, with and without the `u` flag. */
export function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
