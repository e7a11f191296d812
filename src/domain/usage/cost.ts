import { isJsonObject } from '#base/json.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { unitsPerUsd } from '../limits/limits.ts';
import type { TokenCounts } from './usage.ts';

/** Token counts as an upstream reports them, with what it says of its cache. */
type PricedCounts = Readonly<TokenCounts> & { readonly prompt_tokens_details?: unknown };

/**
 * What a reply and its tokens cost, in billionths of a USD. Cached tokens cost `cacheRead` and `cacheWrite` if the
 * upstream reports them, else `prompt`. Without pricing, as for applications, nothing: their calls are charged where they are answered.
 */
export function costOf({ pricing }: Deployment, usage: PricedCounts): number {
  if (pricing === undefined) return 0;
  const { request = 0, prompt = 0, completion = 0, cacheRead = prompt, cacheWrite = prompt } = pricing;
  const details = isJsonObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const read = atMost(usage.prompt_tokens, details.cached_tokens);
  const written = atMost(usage.prompt_tokens - read, details.cache_write_tokens);
  const fresh = usage.prompt_tokens - read - written;
  const usd = request + fresh * prompt + read * cacheRead + written * cacheWrite + usage.completion_tokens * completion;
  return Math.max(0, Math.round(usd * unitsPerUsd));
}

function atMost(most: number, value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.min(most, Math.round(value)) : 0;
}
