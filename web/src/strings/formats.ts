const units: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

/** Formats a time with its day in the local time zone. */
export function formatDateTime(atMs: number, locale: string): string {
  return new Date(atMs).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'medium' });
}

/** Formats a future time, such as “in 3 hours”, rounded up. */
export function formatTimeUntil(atMs: number, nowMs: number, locale: string): string {
  const exactSeconds = Math.max(0, Math.ceil((atMs - nowMs) / 1000));
  const [, step] = findUnit(exactSeconds);
  // Rounding up can reach the next unit: 60 minutes are 1 hour.
  const seconds = Math.ceil(exactSeconds / step) * step;
  const [unit, size] = findUnit(seconds);
  return new Intl.RelativeTimeFormat(locale, { numeric: 'always' }).format(Math.ceil(seconds / size), unit);
}

function findUnit(seconds: number): (typeof units)[number] {
  return units.find(([, unitSeconds]) => seconds >= unitSeconds) ?? ['second', 1];
}

/** Formats a duration as seconds with at most one decimal. */
export function formatSeconds(ms: number, locale: string): string {
  return (ms / 1000).toLocaleString(locale, { style: 'unit', unit: 'second', maximumFractionDigits: 1 });
}

/** Formats USD with cents. Amounts below 10 cents have two significant digits. */
export function formatUsd(usd: number, locale: string): string {
  const digits = usd === 0 || Math.abs(usd) >= 0.1 ? {} : { maximumSignificantDigits: 2 };
  return usd.toLocaleString(locale, { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol', ...digits });
}
