import type { LanguageModelV4FinishReason, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { FinishReason, Usage } from '#contract/chunk.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { toCount } from '#domain/usage/usage.ts';

/** Reasons in the vendors' own words that their packages know no better than `other`. */
const ownReasons: ReadonlyMap<unknown, FinishReason> = new Map([
  ['model_context_window_exceeded', 'length'],
  ['content_filter', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
  ['MODEL_ARMOR', 'content_filter'],
  ['LANGUAGE', 'content_filter'],
]);
/** Ends of replies that are none. */
const failed = /^(malformed|unexpected_tool_call|too_many_tool_calls|missing_thought_signature|error$)/i;

/** Why a reply ended. Throws UpstreamFault if it did not come to its own end. */
export function toFinishReason({ unified, raw }: LanguageModelV4FinishReason, hasCalls: boolean): FinishReason {
  if (raw === undefined) throw new UpstreamFault('broken', 'The upstream closed its answer before the end.');
  if (unified === 'error' || failed.test(raw)) throw new UpstreamFault('broken', `The upstream ended its answer with ${raw}.`);
  switch (unified) {
    case 'content-filter':
      return 'content_filter';
    case 'length':
      return 'length';
    case 'other':
      return ownReasons.get(raw) ?? whole(hasCalls);
    default:
      return whole(hasCalls);
  }
}

function whole(hasCalls: boolean): FinishReason {
  return hasCalls ? 'tool_calls' : 'stop';
}

/** Counts as the compat wire has them; undefined if the vendor reports none. */
export function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | undefined {
  const { total: prompt, cacheRead, cacheWrite } = inputTokens;
  const { total: completion, reasoning } = outputTokens;
  if (prompt === undefined && completion === undefined) return undefined;
  const counts = { prompt_tokens: toCount(prompt), completion_tokens: toCount(completion) };
  return {
    ...counts,
    total_tokens: counts.prompt_tokens + counts.completion_tokens,
    ...((cacheRead !== undefined || cacheWrite !== undefined) && {
      prompt_tokens_details: {
        cached_tokens: toCount(cacheRead),
        ...(cacheWrite !== undefined && { cache_write_tokens: toCount(cacheWrite) }),
      },
    }),
    ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: toCount(reasoning) } }),
  };
}
