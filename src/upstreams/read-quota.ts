import type { ReplyHeaders } from '#base/http/client.ts';
import type { UpstreamQuota } from '#domain/upstreams/upstream.ts';

/** Header fields of one quota. The time of the reset is a duration, a number of seconds, or a date. */
interface QuotaFields {
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

const toOpenAiFields = (unit: string): QuotaFields => ({
  limit: `x-ratelimit-limit-${unit}`,
  remaining: `x-ratelimit-remaining-${unit}`,
  reset: `x-ratelimit-reset-${unit}`,
});
const toAnthropicFields = (unit: string): QuotaFields => ({
  limit: `anthropic-ratelimit-${unit}-limit`,
  remaining: `anthropic-ratelimit-${unit}-remaining`,
  reset: `anthropic-ratelimit-${unit}-reset`,
});
/** Quotas of OpenAI, Azure, Groq, and compatible servers, and quotas of Anthropic. */
const quotaFields: readonly QuotaFields[] = [
  ...['requests', 'tokens'].map(toOpenAiFields),
  ...['requests', 'input-tokens', 'output-tokens', 'tokens'].map(toAnthropicFields),
];

const decimalPattern = /^\d{1,9}(?:\.\d{1,9})?$/;
/** Matches durations such as `1m12.5s` and `20ms`. */
const durationPattern = /^(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9}(?:\.\d{1,9})?)s)?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?$/;

/** Returns the reported quota with the smallest remaining share. Returns undefined if the reply reports no quota. */
export function readQuota(headers: ReplyHeaders, epochMs: number): UpstreamQuota | undefined {
  let smallest: UpstreamQuota | undefined;
  for (const fields of quotaFields) {
    if (headers[fields.remaining] === undefined) continue;
    const limit = toNumber(headers[fields.limit]);
    const remaining = toNumber(headers[fields.remaining]);
    const resetMs = toResetMs(headers[fields.reset], epochMs);
    if (limit === undefined || limit === 0 || remaining === undefined || resetMs === undefined) continue;
    const remainingShare = Math.min(1, remaining / limit);
    if (smallest === undefined || remainingShare < smallest.remainingShare) smallest = { remainingShare, resetMs, limit };
  }
  return smallest;
}

function toNumber(value: unknown): number | undefined {
  return typeof value === 'string' && decimalPattern.test(value) ? Number(value) : undefined;
}

/** Returns the milliseconds until the reset. */
function toResetMs(value: unknown, epochMs: number): number | undefined {
  if (typeof value !== 'string' || value === '' || value.length > 64) return undefined;
  if (decimalPattern.test(value)) return Number(value) * 1000;
  const [match, hours = 0, minutes = 0, seconds = 0, milliseconds = 0] = durationPattern.exec(value) ?? [];
  if (match !== undefined) return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(milliseconds);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - epochMs);
}
