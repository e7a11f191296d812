/** Formats a time with its day in the local time zone. */
export function formatDateTime(atMs: number, language: string): string {
  return new Date(atMs).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'medium' });
}
