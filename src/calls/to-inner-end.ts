import type { ModelUsage } from '#contract/chunk.ts';
import type { ParleyError } from '#contract/errors.ts';
import { type CallEnd, toCallOutcome } from '#domain/telemetry.ts';
import { addUp } from '#domain/usage/usage.ts';

interface InnerEnding {
  readonly error: ParleyError | undefined;
  /** Whether nobody wanted the reply any more. */
  readonly isLeft: boolean;
  readonly used: readonly ModelUsage[];
  readonly atMs: number;
}

/** The end of a call made from inside: no status was sent, so it is the one that a caller would have got. */
export function toInnerEnd({ error, isLeft, used, atMs }: InnerEnding): CallEnd {
  const { prompt_tokens, completion_tokens } = addUp(used);
  return {
    outcome: isLeft ? 'left' : toCallOutcome(error),
    status: isLeft ? 499 : (error?.status ?? 200),
    error,
    promptTokens: prompt_tokens,
    completionTokens: completion_tokens,
    atMs,
  };
}
