import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Usage } from '#contract/chat/chunk.ts';
import { toUsage as toChatUsage } from '#domain/usage/reported-usage.ts';
import { toCount } from '#domain/usage/usage.ts';

/** Counts of the dialect in the compat form; undefined if there are none. */
export function toUsage(reported: unknown): Usage | undefined {
  if (!isJsonObject(reported) || typeof reported.input_tokens !== 'number') return undefined;
  const input = detailsOf(reported.input_tokens_details);
  const output = detailsOf(reported.output_tokens_details);
  return toChatUsage({
    prompt_tokens: reported.input_tokens,
    completion_tokens: toCount(reported.output_tokens),
    total_tokens: reported.total_tokens,
    ...(input && { prompt_tokens_details: input }),
    ...(output && { completion_tokens_details: output }),
  });
}

function detailsOf(details: unknown): JsonObject | undefined {
  return isJsonObject(details) ? details : undefined;
}
