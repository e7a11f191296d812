import { unitsPerUsd } from '#domain/limits/limits.ts';
import type { Journal, UsageAmounts, UsageKey, UsageSum } from '#domain/usage/journal.ts';
import type { Rows } from './csv.ts';
import { type Days, readDays, toBounds } from './days.ts';
import { filterNames, type Query, queryFault, readFilter, readLimit, readText, requireKnown } from './query.ts';

/** What callers tell sums apart by, and what it is called in records. */
const keysByName = { day: 'day', deployment: 'deployment', user: 'subject', project: 'project' } as const;
type KeyName = keyof typeof keysByName;

interface Asked extends Days {
  readonly by: readonly KeyName[];
  readonly limit: number;
}

const limits = { most: 10_000, otherwise: 1000 };

export interface UsageScope {
  /** Undefined: of all. */
  readonly subject: string | undefined;
  /** What may be asked for. */
  readonly keys: readonly KeyName[];
  readonly nowMs: number;
}

/** Sums of usage as callers are shown them, with the total of all. Throws `invalid_request`, StoreFault. */
export async function readUsage(journal: Journal, query: Query, { subject, keys, nowMs }: UsageScope): Promise<Rows> {
  const isOfAll = subject === undefined;
  if (isOfAll) requireKnown(query, ['from', 'to', 'by', 'limit', 'format', 'kind', ...filterNames]);
  const { from, to, by, limit } = toAsked(query, keys, nowMs);
  const scope = { ...(isOfAll ? readFilter(query) : { subject }), ...toBounds({ from, to }) };
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
  return { ...readDays(query, nowMs), by: readKeys(query, keys), limit: readLimit(query, limits) };
}

function readKeys(query: Query, keys: readonly KeyName[]): readonly KeyName[] {
  const names = new Set((readText(query, 'by') ?? 'day').split(','));
  const known = keys.filter((key) => names.has(key));
  if (known.length < names.size) throw queryFault('by', `may list ${keys.join(', ')}, with commas between`);
  return known;
}

function toKeys(sum: UsageSum<UsageKey>, by: readonly KeyName[]): object {
  return Object.fromEntries(by.map((name) => [name, sum[keysByName[name]]]));
}

function toAmounts({ calls, failedCalls, refusedCalls, promptTokens, completionTokens, cost }: UsageAmounts): object {
  return { calls, failedCalls, refusedCalls, promptTokens, completionTokens, cost: cost / unitsPerUsd };
}
