/** Formats a time with its day in the local time zone. */
export function formatDateTime(atMs: number, locale: string): string {
  return new Date(atMs).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'medium' });
}

/** Formats a duration in seconds with its unit. */
export function formatSeconds(ms: number, language: string): string {
  return (ms / 1000).toLocaleString(language, { style: 'unit', unit: 'second', maximumFractionDigits: 1 });
}
