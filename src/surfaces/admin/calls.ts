import { unitsPerUsd } from '#domain/limits/limits.ts';
import type { CallOutcome } from '#domain/telemetry.ts';
import type { Journal, UsageRecord } from '#domain/usage/journal.ts';
import type { Rows } from './csv.ts';
import { readDays, toBounds } from './days.ts';
import {
  filterNames,
  type Query,
  queryFault,
  readFilter,
  readLimit,
  readPlace,
  readText,
  requireKnown,
  toToken,
} from './query.ts';

const limits = { most: 500, otherwise: 50 };
/** How calls end. */
export const outcomes: readonly CallOutcome[] = ['ok', 'refused', 'failed', 'left'];

/** Whose calls are listed. */
export interface CallsScope {
  /** Undefined: those of all, and of one user or project where the query names it. */
  readonly subject: string | undefined;
  readonly nowMs: number;
}

/** One page of single calls, the newest first; nothing of their content. Throws `invalid_request`, StoreFault. */
export async function readCalls(journal: Journal, query: Query, { subject, nowMs }: CallsScope): Promise<Rows> {
  const isOfAll = subject === undefined;
  if (isOfAll) requireKnown(query, ['from', 'to', 'outcome', 'token', 'limit', 'format', ...filterNames]);
  const { from, to } = readDays(query, nowMs);
  const limit = readLimit(query, limits);
  const found = await journal.listCalls({
    ...toBounds({ from, to }),
    ...(isOfAll ? readFilter(query) : { subject, deployment: readText(query, 'deployment') }),
    outcome: readOutcome(query),
    before: readPlace(query),
    limit: limit + 1,
  });
  const shown = found.slice(0, limit);
  const last = found.length > limit ? shown.at(-1) : undefined;
  return { object: 'list', from, to, data: shown.map(toShown), nextToken: last === undefined ? null : toToken(last) };
}

function readOutcome(query: Query): CallOutcome | undefined {
  const text = readText(query, 'outcome');
  const outcome = outcomes.find((each) => each === text);
  if (text !== undefined && outcome === undefined) throw queryFault('outcome', `must be one of ${outcomes.join(', ')}`);
  return outcome;
}

function toShown({ atMs, subject, cost, ...call }: UsageRecord): object {
  const { id, requestId, project, deployment, path, operation, outcome, status } = call;
  const { promptTokens, completionTokens, durationMs, keyId } = call;
  const { cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens, serviceTier, session } = call;
  return {
    ...{ id, at: atMs, requestId, user: subject, project, deployment, path, operation, outcome, status },
    ...{ promptTokens, completionTokens, cost: cost / unitsPerUsd, durationMs },
    ...(keyId !== undefined && { key: keyId }),
    ...(cacheReadTokens !== undefined && { cacheReadTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
    ...(cacheWrite1hTokens !== undefined && { cacheWrite1hTokens }),
    ...(serviceTier !== undefined && { serviceTier }),
    ...(session !== undefined && { session }),
  };
}
