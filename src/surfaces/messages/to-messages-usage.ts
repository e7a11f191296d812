import { isJsonObject } from '#base/json.ts';
import type { Usage } from '#contract/chunk.ts';
import type { MessagesUsage } from '#contract/messages/dialect.ts';
import { toCount } from '#domain/usage/usage.ts';

/** Counts as the dialect has them: `input_tokens` is what the cache had no part in. */
export function toMessagesUsage({ prompt_tokens, completion_tokens, ...rest }: Usage): MessagesUsage {
  const prompt = isJsonObject(rest.prompt_tokens_details) ? rest.prompt_tokens_details : {};
  const read = Math.min(prompt_tokens, toCount(prompt.cached_tokens));
  const written = Math.min(prompt_tokens - read, toCount(prompt.cache_write_tokens));
  const writtenForHour = Math.min(written, toCount(prompt.cache_write_1h_tokens));
  const completion = isJsonObject(rest.completion_tokens_details) ? rest.completion_tokens_details : {};
  const thinking = toCount(completion.reasoning_tokens);
  return {
    input_tokens: prompt_tokens - read - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    ...(writtenForHour > 0 && {
      cache_creation: { ephemeral_5m_input_tokens: written - writtenForHour, ephemeral_1h_input_tokens: writtenForHour },
    }),
    output_tokens: completion_tokens,
    ...(typeof rest.cost === 'number' && { cost: rest.cost }),
    ...(typeof rest.service_tier === 'string' && { service_tier: rest.service_tier }),
    ...(thinking > 0 && { output_tokens_details: { thinking_tokens: thinking } }),
  };
}
