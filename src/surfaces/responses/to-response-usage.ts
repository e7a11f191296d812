import { isJsonObject } from '#base/json.ts';
import type { Usage } from '#contract/chunk.ts';
import type { ResponseUsage } from '#contract/responses/output-items.ts';
import { toCount } from '#domain/usage/usage.ts';

/** Counts as the dialect has them. */
export function toResponseUsage({ prompt_tokens, completion_tokens, total_tokens, ...rest }: Usage): ResponseUsage {
  const prompt = isJsonObject(rest.prompt_tokens_details) ? rest.prompt_tokens_details : {};
  const completion = isJsonObject(rest.completion_tokens_details) ? rest.completion_tokens_details : {};
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: {
      cached_tokens: toCount(prompt.cached_tokens),
      cache_write_tokens: toCount(prompt.cache_write_tokens),
    },
    output_tokens: completion_tokens,
    output_tokens_details: { reasoning_tokens: toCount(completion.reasoning_tokens) },
    total_tokens,
  };
}
