import { unitsPerUsd } from '#domain/limits/limits.ts';
import type { Journal, UsageAmounts, UsageKey, UsageSum } from '#domain/usage/journal.ts';
import { type Query, queryFault, readLimit, readText } from './query.ts';

/** What callers tell sums apart by, and what it is called in records. */
const keysByName = { day: 'day', deployment: 'deployment', user: 'subject', project: 'project' } as const;
type KeyName = keyof typeof keysByName;

interface Asked {
  /** `YYYY-MM-DD` in UTC. */
  readonly from: string;
  /** Included. */
  readonly to: string;
  readonly by: readonly KeyName[];
  readonly limit: number;
}

const dayMs = 86_400_000;
const mostDays = 366;
const defaultDays = 30;
const limits = { most: 10_000, otherwise: 1000 };

export interface UsageScope {
  /** Undefined: of all. */
  readonly subject: string | undefined;
  /** What may be asked for. */
  readonly keys: readonly KeyName[];
  readonly nowMs: number;
}

/** Sums of usage as callers are shown them, with the total of all. Throws `invalid_request`, StoreFault. */
export async function readUsage(journal: Journal, query: Query, { subject, keys, nowMs }: UsageScope): Promise<object> {
  const { from, to, by, limit } = toAsked(query, keys, nowMs);
  const scope = { subject, fromMs: Date.parse(from), toMs: Date.parse(to) + dayMs };
  const sums = await journal.sumUsage<UsageKey>({ ...scope, by: by.map((name) => keysByName[name]), limit: limit + 1 });
  const [total] = await journal.sumUsage({ ...scope, by: [] });
  return {
    object: 'list',
    ...{ from, to, by },
    data: sums.slice(0, limit).map((sum) => ({ ...toKeys(sum, by), ...toAmounts(sum) })),
    total: total && toAmounts(total),
    isCut: sums.length > limit,
  };
}

function toAsked(query: Query, keys: readonly KeyName[], nowMs: number): Asked {
  const to = readDay(query, 'to') ?? toDay(nowMs);
  const from = readDay(query, 'from') ?? toDay(Date.parse(to) - (defaultDays - 1) * dayMs);
  const days = (Date.parse(to) - Date.parse(from)) / dayMs + 1;
  if (days < 1) throw queryFault('from', 'must not be after to');
  if (days > mostDays) throw queryFault('from', `must be at most ${mostDays - 1} days before to`);
  return { from, to, by: readKeys(query, keys), limit: readLimit(query, limits) };
}

function readDay(query: Query, name: string): string | undefined {
  const text = readText(query, name);
  if (text === undefined) return undefined;
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms) || toDay(ms) !== text) throw queryFault(name, 'must be a day such as 2026-11-21');
  return text;
}

function readKeys(query: Query, keys: readonly KeyName[]): readonly KeyName[] {
  const names = new Set((readText(query, 'by') ?? 'day').split(','));
  const known = keys.filter((key) => names.has(key));
  if (known.length < names.size) throw queryFault('by', `may list ${keys.join(', ')}, with commas between`);
  return known;
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function toKeys(sum: UsageSum<UsageKey>, by: readonly KeyName[]): object {
  return Object.fromEntries(by.map((name) => [name, sum[keysByName[name]]]));
}

function toAmounts({ calls, failedCalls, refusedCalls, promptTokens, completionTokens, cost }: UsageAmounts): object {
  return { calls, failedCalls, refusedCalls, promptTokens, completionTokens, cost: cost / unitsPerUsd };
}
