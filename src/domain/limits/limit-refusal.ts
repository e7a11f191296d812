import { type ErrorCode, ParleyError } from '#contract/errors.ts';
import { unitsPerUsd } from './limits.ts';
import type { Window } from './windows.ts';

/** How far a limit is used. */
export interface LimitStatus {
  readonly window: Window;
  readonly total: number;
  readonly used: number;
  /** Milliseconds since the epoch. */
  readonly resetsAtMs: number;
}

const codes: Readonly<Record<Window['kind'], ErrorCode>> = {
  tokens: 'token_limit_exceeded',
  requests: 'request_limit_exceeded',
  cost: 'cost_limit_exceeded',
};

/** The refusal of a call to a deployment, if one of its limits is used up; of several the one that resets last. */
export function toRefusal(statuses: readonly LimitStatus[], deployment: string, nowMs: number): ParleyError | undefined {
  const usedUp = statuses.filter(({ used, total }) => used >= total);
  const [last] = usedUp.sort((one, other) => other.resetsAtMs - one.resetsAtMs);
  if (last === undefined) return undefined;
  const { window, used, total, resetsAtMs } = last;
  const where = window.kind === 'cost' ? '' : ` on ${deployment}`;
  const message =
    `Your limit of ${inWords(window, total)} per ${window.period}${where} is used up (${amount(window, used)} of ${amount(window, total)}); ` +
    `it resets in ${toDuration(resetsAtMs - nowMs)}, at ${new Date(resetsAtMs).toISOString().replace('.000Z', 'Z')}.`;
  return new ParleyError(codes[window.kind], message, {
    retryAfterSeconds: Math.max(1, Math.ceil((resetsAtMs - nowMs) / 1000)),
    headers: toLimitHeaders(statuses, nowMs),
  });
}

/** How limits stand once one request more is counted. */
export function afterRequest(statuses: readonly LimitStatus[]): readonly LimitStatus[] {
  return statuses.map((status) => (status.window.kind === 'requests' ? { ...status, used: status.used + 1 } : status));
}

/** `x-ratelimit-…` of requests and tokens, as OpenAI's API names and writes them, each for the window with the least left. */
export function toLimitHeaders(statuses: readonly LimitStatus[], nowMs: number): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  const requests = tightestOf(statuses, 'requests');
  if (requests !== undefined) {
    headers['x-ratelimit-limit-requests'] = String(requests.total);
    headers['x-ratelimit-remaining-requests'] = String(leftOf(requests));
    headers['x-ratelimit-reset-requests'] = toDuration(requests.resetsAtMs - nowMs);
  }
  const tokens = tightestOf(statuses, 'tokens');
  if (tokens !== undefined) {
    headers['x-ratelimit-limit-tokens'] = String(tokens.total);
    headers['x-ratelimit-remaining-tokens'] = String(leftOf(tokens));
    headers['x-ratelimit-reset-tokens'] = toDuration(tokens.resetsAtMs - nowMs);
  }
  return headers;
}

function tightestOf(statuses: readonly LimitStatus[], kind: Window['kind']): LimitStatus | undefined {
  let tightest: LimitStatus | undefined;
  for (const status of statuses) {
    if (status.window.kind !== kind) continue;
    const difference = tightest === undefined ? -1 : leftOf(status) - leftOf(tightest);
    const isTighter = difference < 0 || (difference === 0 && status.resetsAtMs > (tightest?.resetsAtMs ?? 0));
    if (isTighter) tightest = status;
  }
  return tightest;
}

function leftOf({ total, used }: LimitStatus): number {
  return Math.max(0, total - used);
}

/** A time as Go writes it: `120ms`, `12s`, `6m0s`, `48h0m0s`; whole seconds, rounded up, from one second on. */
function toDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.ceil(ms))}ms`;
  const seconds = Math.ceil(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds}s`;
  const rest = `${minutes % 60}m${seconds % 60}s`;
  return minutes < 60 ? rest : `${Math.floor(minutes / 60)}h${rest}`;
}

function inWords(window: Window, value: number): string {
  return window.kind === 'cost' ? `${amount(window, value)} USD` : `${value} ${window.kind}`;
}

function amount({ kind }: Window, value: number): string {
  if (kind !== 'cost') return String(value);
  return (value / unitsPerUsd).toFixed(9).replace(/\.?0+$/, '');
}
