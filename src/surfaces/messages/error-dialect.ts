import { toMessagesError } from '#contract/messages/dialect.ts';
import type { ErrorDialect } from '../http/error-dialect.ts';

/** Dialect of the canonical prefix, which does not accept `x-api-key`. */
const canonicalErrorDialect: ErrorDialect = {
  acceptsXApiKey: false,
  idHeaders: ['x-request-id', 'request-id'],
  toErrorBody: toMessagesError,
  toDialectHeaders: toRateLimitHeaders,
};
const aliasErrorDialect: ErrorDialect = { ...canonicalErrorDialect, acceptsXApiKey: true };

export const canonicalPrefix = 'msgapi';

/** Returns the error dialect of a prefix. Aliases also accept `x-api-key`, because unmodified Anthropic clients send it. */
export function getErrorDialect(prefix: string): ErrorDialect {
  return prefix === canonicalPrefix ? canonicalErrorDialect : aliasErrorDialect;
}

/** Returns a function that selects the error dialect of a path. `elsewhere` selects it for paths outside this surface. */
export function errorDialectAt(
  aliases: readonly string[],
  elsewhere: (path: string) => ErrorDialect,
): (path: string) => ErrorDialect {
  return (path) => {
    const prefix = [canonicalPrefix, ...aliases].find((candidate) => path.startsWith(`/${candidate}/`));
    return prefix === undefined ? elsewhere(path) : getErrorDialect(prefix);
  };
}

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/**
 * Returns the rate limits among response headers under the names of the dialect. For example, `x-ratelimit-reset-tokens: 12s`
 * becomes `anthropic-ratelimit-tokens-reset` with an absolute time.
 */
export function toRateLimitHeaders(headers: Readonly<Record<string, string>>, nowEpochMs: number): Record<string, string> {
  const limits: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const [, field, unit] = /^x-ratelimit-(limit|remaining|reset)-(requests|tokens)$/.exec(name) ?? [];
    if (field === undefined) continue;
    limits[`anthropic-ratelimit-${unit}-${field}`] = field === 'reset' ? toTime(value, nowEpochMs) : value;
  }
  return limits;
}

function toTime(duration: string, nowEpochMs: number): string {
  let epochMs = nowEpochMs;
  for (const [, count, unit = ''] of duration.matchAll(/(\d{1,15})(ms|h|m|s)/g)) epochMs += Number(count) * (unitMs[unit] ?? 0);
  return new Date(epochMs).toISOString();
}
