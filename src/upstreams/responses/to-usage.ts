import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { Usage } from '#contract/chunk.ts';
import { toCount } from '#domain/usage/usage.ts';

/** Counts of the dialect in the compat form; undefined if there are none. */
export function toUsage(reported: unknown): Usage | undefined {
  if (!isJsonObject(reported) || typeof reported.input_tokens !== 'number') return undefined;
  const prompt_tokens = toCount(reported.input_tokens);
  const completion_tokens = toCount(reported.output_tokens);
  const input = detailsOf(reported.input_tokens_details);
  const output = detailsOf(reported.output_tokens_details);
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    ...(input && { prompt_tokens_details: input }),
    ...(output && { completion_tokens_details: output }),
  };
}

function detailsOf(details: unknown): JsonObject | undefined {
  return isJsonObject(details) ? details : undefined;
}
