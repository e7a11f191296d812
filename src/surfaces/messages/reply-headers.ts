import type { Native } from '#contract/chat/frame.ts';
import type { Relayed } from '#contract/messages/dialect.ts';
import { ignoredHeader, toIgnoredNames } from '../http/replies/header-fields.ts';

export interface HeaderFacts {
  /** Headers of every response to the caller, such as its remaining limits. */
  readonly usual: Readonly<Record<string, string>>;
  /** Names of the fields that did not reach the upstream. */
  readonly ignored: readonly string[];
  readonly nowEpochMs: number;
}

const isLimit = /^(?:anthropic|x)-ratelimit-/;
const millis: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/**
 * Returns the header fields of a successful reply, with the names of omitted request fields. A relayed reply includes the header
 * fields of its upstream, except limits if the caller has its own limits. The dialect's header fields also carry limits.
 */
export function toReplyHeaders(native: Native | undefined, facts: HeaderFacts): Record<string, string> {
  const { usual, ignored } = facts;
  const ownLimits = toOwnLimits(usual, facts.nowEpochMs);
  const nativeHeaders = Object.entries((native as Relayed | undefined)?.headers ?? {});
  const isLimited = Object.keys(usual).some((name) => isLimit.test(name));
  const forwardedHeaders = nativeHeaders.filter(([name]) => !(isLimited && isLimit.test(name)));
  return {
    ...usual,
    ...ownLimits,
    ...Object.fromEntries(forwardedHeaders),
    ...(ignored.length > 0 && { [ignoredHeader]: toIgnoredNames(ignored) }),
  };
}

/**
 * Returns the limits in the format of the dialect. For example, `x-ratelimit-reset-tokens: 12s` becomes
 * `anthropic-ratelimit-tokens-reset` with an absolute time.
 */
export function toOwnLimits(usual: HeaderFacts['usual'], nowEpochMs: number): Record<string, string> {
  const limits: Record<string, string> = {};
  for (const [name, value] of Object.entries(usual)) {
    const [, what = '', of = ''] = /^x-ratelimit-(limit|remaining|reset)-(requests|tokens)$/.exec(name) ?? [];
    if (what === '') continue;
    limits[`anthropic-ratelimit-${of}-${what}`] = what === 'reset' ? toTime(value, nowEpochMs) : value;
  }
  return limits;
}

function toTime(duration: string, nowEpochMs: number): string {
  let ms = nowEpochMs;
  for (const [, count, unit = ''] of duration.matchAll(/(\d{1,15})(ms|h|m|s)/g)) ms += Number(count) * (millis[unit] ?? 0);
  return new Date(ms).toISOString();
}
