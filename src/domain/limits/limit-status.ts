import { type ErrorCode, ParleyError } from '#contract/errors/errors.ts';
import { type Limit, type LimitScope, unitsPerUsd } from './limits.ts';
import type { Window } from './windows.ts';

/** Usage of a limit. */
export interface LimitStatus {
  readonly limit: Limit;
  readonly used: number;
  /** Amount reserved for other calls in progress. */
  readonly reserved: number;
  /** Milliseconds since the epoch. For calls in progress, the time when the next one is expected to end. */
  readonly resetsAtMs: number;
}

const codes: Readonly<Record<Window['kind'], ErrorCode>> = {
  tokens: 'token_limit_exceeded',
  requests: 'request_limit_exceeded',
  cost: 'cost_limit_exceeded',
  calls: 'parallel_limit_exceeded',
};

/** Suggested delay for a call that only reservations block. The calls that hold them may end at any time. */
const blockedRetrySeconds = 1;
const maxRetryAfterSeconds = 3_600;

/**
 * Returns the error for a call that an exhausted limit or the reservations of the caller's other calls block. If several limits
 * block it, reports the one that resets last. Exhausted limits take precedence, then limits of calls in progress.
 */
export function toLimitError(statuses: readonly LimitStatus[], deployment: string, nowMs: number): ParleyError | undefined {
  const full = statuses.filter(({ used, reserved, limit }) => used + reserved >= limit.total);
  const exhausted = findLastReset(full.filter(({ used, limit }) => used >= limit.total));
  const blocking = exhausted ?? full.find(({ limit }) => limit.window.kind === 'calls') ?? findLastReset(full);
  if (blocking === undefined) return undefined;
  const { limit, used, reserved, resetsAtMs } = blocking;
  if (limit.window.kind === 'calls') return toParallelError(blocking, statuses, deployment, nowMs);
  const { window, total, isOverall } = limit;
  const amount = `${formatWithUnit(window, total)} per ${window.period}${isOverall ? '' : ` on ${deployment}`}`;
  const counted = `${formatAmount(window, used)} of ${formatAmount(window, total)}`;
  const state =
    exhausted === undefined
      ? `is reserved for ${hasScope(limit) ? '' : 'your '}calls in progress (${counted} used, ${formatAmount(window, reserved)} reserved). Try again when they end. The limit resets`
      : `is used up (${counted}). It resets`;
  const resets = `in ${toDuration(resetsAtMs - nowMs)}, at ${new Date(resetsAtMs).toISOString().replace('.000Z', 'Z')}`;
  return new ParleyError(codes[window.kind], `${formatOwner(limit, amount)} ${state} ${resets}.`, {
    retryAfterSeconds: exhausted === undefined ? blockedRetrySeconds : Math.max(1, Math.ceil((resetsAtMs - nowMs) / 1000)),
    headers: toLimitHeaders(statuses, nowMs),
    ...(hasScope(limit) && {
      members: { limit: { of: toScopeName(limit), window: toWindowName(limit, deployment), resetsAt: resetsAtMs } },
    }),
  });
}

/** Returns the error for a call beyond a limit of calls in progress. */
function toParallelError(
  { limit, reserved, resetsAtMs }: LimitStatus,
  statuses: readonly LimitStatus[],
  deployment: string,
  nowMs: number,
): ParleyError {
  const retryAfterSeconds = Math.min(maxRetryAfterSeconds, Math.max(1, Math.ceil((resetsAtMs - nowMs) / 1000)));
  const amount = `${limit.total} parallel calls${limit.isOverall ? '' : ` on ${deployment}`}`;
  const message = `${formatOwner(limit, amount)} is reached (${reserved} in progress). Try again in ${retryAfterSeconds} s.`;
  return new ParleyError('parallel_limit_exceeded', message, {
    retryAfterSeconds,
    headers: toLimitHeaders(statuses, nowMs),
    ...(hasScope(limit) && { members: { limit: { of: toScopeName(limit), window: toWindowName(limit, deployment) } } }),
  });
}

/** Returns whether a limit is one of a project, a key, or a user, and not of the roles of a user. */
export function hasScope(limit: Limit): limit is Limit & Required<Pick<Limit, 'scope'>> {
  return limit.scope !== undefined && limit.scope.kind !== 'role';
}

/** Returns the public name of a scope, such as `project:search`. Does not contain the digest of a key whose name is its secret. */
export function toScopeName({ scope }: Required<Pick<Limit, 'scope'>>): string {
  return isUnnamedKey(scope) ? scope.kind : `${scope.kind}:${scope.id}`;
}

/** Returns the public name of a window, such as `cost.month` or `tokens.day:gpt`. */
export function toWindowName({ window, isOverall }: Pick<Limit, 'window' | 'isOverall'>, deployment: string): string {
  return `${window.kind}.${window.period}${isOverall ? '' : `:${deployment}`}`;
}

function isUnnamedKey({ kind, id }: LimitScope): boolean {
  return kind === 'key' && id.startsWith('digest ');
}

function formatOwner({ scope }: Limit, amount: string): string {
  switch (scope?.kind) {
    case 'project':
      return `The limit of your project ${scope.id}, ${amount},`;
    case 'key':
      return isUnnamedKey(scope) ? `The limit of your key, ${amount},` : `The limit of your key ${scope.id}, ${amount},`;
    case 'user':
      return `The limit of your user, ${amount},`;
    default:
      return `Your limit of ${amount}`;
  }
}

function findLastReset(statuses: readonly LimitStatus[]): LimitStatus | undefined {
  return statuses.toSorted((left, right) => right.resetsAtMs - left.resetsAtMs)[0];
}

/** Returns the statuses after one more request is counted. */
export function countRequest(statuses: readonly LimitStatus[]): readonly LimitStatus[] {
  return statuses.map((status) => (status.limit.window.kind === 'requests' ? { ...status, used: status.used + 1 } : status));
}

/**
 * Returns `x-ratelimit-…` for requests and tokens, in the format of OpenAI's API. Each kind reports the window with the least
 * remaining quota.
 */
export function toLimitHeaders(statuses: readonly LimitStatus[], nowMs: number): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const kind of ['requests', 'tokens'] as const) {
    const tightest = findTightest(statuses, kind);
    if (tightest === undefined) continue;
    headers[`x-ratelimit-limit-${kind}`] = String(tightest.limit.total);
    headers[`x-ratelimit-remaining-${kind}`] = String(countRemaining(tightest));
    headers[`x-ratelimit-reset-${kind}`] = toDuration(tightest.resetsAtMs - nowMs);
  }
  return headers;
}

function findTightest(statuses: readonly LimitStatus[], kind: Window['kind']): LimitStatus | undefined {
  let tightest: LimitStatus | undefined;
  for (const status of statuses) {
    if (status.limit.window.kind !== kind) continue;
    const difference = tightest === undefined ? -1 : countRemaining(status) - countRemaining(tightest);
    const isTighter = difference < 0 || (difference === 0 && status.resetsAtMs > (tightest?.resetsAtMs ?? 0));
    if (isTighter) tightest = status;
  }
  return tightest;
}

/** Returns the limit minus the used and the reserved amount, at least 0. */
function countRemaining({ limit, used, reserved }: LimitStatus): number {
  return Math.max(0, limit.total - used - reserved);
}

/** Formats a duration like Go: `120ms`, `12s`, `6m0s`, `48h0m0s`. From one second on, rounds up to seconds. */
function toDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.ceil(ms))}ms`;
  const seconds = Math.ceil(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds}s`;
  const minutesAndSeconds = `${minutes % 60}m${seconds % 60}s`;
  return minutes < 60 ? minutesAndSeconds : `${Math.floor(minutes / 60)}h${minutesAndSeconds}`;
}

function formatWithUnit(window: Window, value: number): string {
  return window.kind === 'cost' ? `${formatAmount(window, value)} USD` : `${value} ${window.kind}`;
}

function formatAmount({ kind }: Window, value: number): string {
  if (kind !== 'cost') return String(value);
  // Pattern bound: a number of at most 40 characters.
  return (value / unitsPerUsd).toFixed(9).replace(/\.?0+$/, '');
}

/** Usage of one limit, for users. Amounts are tokens, requests, or USD. */
export interface LimitUsage {
  /** Public name of the window, such as `cost.month`, `calls.parallel`, or `tokens.day:gpt`. */
  readonly window: string;
  readonly limit: number;
  /** For `calls.parallel`, the calls in progress. */
  readonly used: number;
  /** Amount reserved for calls in progress. Absent if it is 0. */
  readonly reserved?: number;
  readonly remaining: number;
  /** End of the window, in milliseconds since the epoch. Absent for `calls.parallel`. */
  readonly resetsAt?: number;
}

/** Returns the usage of a limit on a deployment. */
export function toLimitUsage(status: LimitStatus, deployment: string): LimitUsage {
  const { limit, used, reserved, resetsAtMs } = status;
  const window = toWindowName(limit, deployment);
  if (limit.window.kind === 'calls') return { window, limit: limit.total, used: reserved, remaining: countRemaining(status) };
  const units = limit.window.kind === 'cost' ? unitsPerUsd : 1;
  return {
    window,
    limit: limit.total / units,
    used: used / units,
    ...(reserved > 0 && { reserved: reserved / units }),
    remaining: countRemaining(status) / units,
    resetsAt: resetsAtMs,
  };
}
