import { type Query, queryFault, readText } from './query.ts';

/** Days as `YYYY-MM-DD` in UTC. */
export interface Days {
  readonly from: string;
  /** Included. */
  readonly to: string;
}

const dayMs = 86_400_000;
const mostDays = 366;
const defaultDays = 30;

/** `from` and `to`; absent, the last 30 days. Throws `invalid_request`. */
export function readDays(query: Query, nowMs: number): Days {
  const to = readDay(query, 'to') ?? toDay(nowMs);
  const from = readDay(query, 'from') ?? toDay(Date.parse(to) - (defaultDays - 1) * dayMs);
  const days = (Date.parse(to) - Date.parse(from)) / dayMs + 1;
  if (days < 1) throw queryFault('from', 'must not be after to');
  if (days > mostDays) throw queryFault('from', `must be at most ${mostDays - 1} days before to`);
  return { from, to };
}

/** Their first millisecond, and the first one behind them. */
export function toBounds({ from, to }: Days): { readonly fromMs: number; readonly toMs: number } {
  return { fromMs: Date.parse(from), toMs: Date.parse(to) + dayMs };
}

function readDay(query: Query, name: string): string | undefined {
  const text = readText(query, name);
  if (text === undefined) return undefined;
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms) || toDay(ms) !== text) throw queryFault(name, 'must be a day such as 2026-11-21');
  return text;
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
