const units: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

/** Formats a future time, such as “in 3 hours”, rounded up. */
export function formatTimeUntil(atMs: number, nowMs: number, locale: string): string {
  const seconds = Math.max(0, Math.ceil((atMs - nowMs) / 1000));
  const [unit, size] = units.find(([, unitSeconds]) => seconds >= unitSeconds) ?? ['second', 1];
  return new Intl.RelativeTimeFormat(locale, { numeric: 'always' }).format(Math.ceil(seconds / size), unit);
}
