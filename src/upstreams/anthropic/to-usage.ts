import type { FinishReason, Usage } from '#contract/chat/chunk.ts';
import type { MessagesUsage, StopReason } from '#contract/messages/dialect.ts';
import { toCount } from '#domain/usage/usage.ts';

const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map<StopReason, FinishReason>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
]);

/**
 * Returns the finish reason of a reply. A successful reply with calls ends with `tool_calls`, regardless of the upstream's
 * reason.
 */
export function toFinishReason(reason: unknown, hasCalls: boolean): FinishReason {
  const finishReason = finishReasons.get(reason) ?? 'stop';
  if (finishReason === 'stop' || finishReason === 'tool_calls') return hasCalls ? 'tool_calls' : 'stop';
  return finishReason;
}

/**
 * Converts the token counts of the dialect to usage in the chat completions format. `prompt_tokens` includes the tokens that were read from
 * and written to the cache.
 */
export function toUsage(counts: Partial<MessagesUsage>): Usage {
  const {
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWritten,
    output_tokens_details: details,
  } = counts;
  const writtenForHour = toCount(counts.cache_creation?.ephemeral_1h_input_tokens);
  const prompt_tokens = toCount(counts.input_tokens) + toCount(cacheRead) + toCount(cacheWritten);
  const completion_tokens = toCount(counts.output_tokens);
  const hasCache = typeof cacheRead === 'number' || typeof cacheWritten === 'number';
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    ...(hasCache && {
      prompt_tokens_details: {
        cached_tokens: toCount(cacheRead),
        cache_write_tokens: toCount(cacheWritten),
        ...(writtenForHour > 0 && { cache_write_1h_tokens: writtenForHour }),
      },
    }),
    ...(typeof counts.service_tier === 'string' && { service_tier: counts.service_tier }),
    ...(typeof details?.thinking_tokens === 'number' && {
      completion_tokens_details: { reasoning_tokens: toCount(details.thinking_tokens) },
    }),
  };
}

/** Replaces the counts with later counts of the stream. Ignores null. */
export function mergeCounts(counts: Partial<MessagesUsage>, laterCounts: object): Partial<MessagesUsage> {
  return { ...counts, ...Object.fromEntries(Object.entries(laterCounts).filter(([, value]) => value !== null)) };
}
