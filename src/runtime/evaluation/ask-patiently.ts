import type { Completion, ModelUsage } from '#contract/chunk.ts';
import { toParleyError } from '#contract/errors.ts';
import { foldFrames } from '#contract/fold-frames.ts';
import type { InnerReply } from '#domain/call.ts';
import type { CaseDeps, EvaluationAsk } from './evaluation-deps.ts';

/** What a deployment answered, and what it took. */
interface Asked {
  readonly completion: Completion;
  readonly usage: readonly ModelUsage[];
  /** Of the try that was answered. */
  readonly durationMs: number;
}

/** What an ask failed with. */
export class AskFault extends Error {
  override readonly name = 'AskFault';
  readonly usage: readonly ModelUsage[];
  readonly durationMs: number;

  constructor(cause: unknown, { usage, durationMs }: Pick<Asked, 'usage' | 'durationMs'>) {
    super('the deployment gave no answer', { cause });
    this.usage = usage;
    this.durationMs = durationMs;
  }
}

const bound = { maxBytes: 16 * 1024 ** 2, claim: 'The answer is too large to be kept.' };
const mostTries = 6;
const longestWaitSeconds = 90;

/** Asks, and waits for room in limits of a short window. Throws AskFault, and the signal's reason. */
export async function askPatiently({ ask, clock }: Pick<CaseDeps, 'ask' | 'clock'>, asking: EvaluationAsk): Promise<Asked> {
  const { signal } = asking;
  for (let tries = 1; ; tries += 1) {
    const startedMs = clock.nowMs();
    let reply: InnerReply | undefined;
    const spent = () => ({ usage: reply?.used() ?? [], durationMs: Math.round(clock.nowMs() - startedMs) });
    try {
      reply = await ask(asking);
      const completion = await foldFrames(reply.frames, bound);
      return { completion, ...spent() };
    } catch (thrown) {
      signal.throwIfAborted();
      const { status, retryAfterSeconds } = toParleyError(thrown);
      const isPassing = status === 429 && retryAfterSeconds !== undefined && retryAfterSeconds <= longestWaitSeconds;
      if (!isPassing || tries === mostTries) throw new AskFault(thrown, spent());
      await clock.sleep(Math.max(1, retryAfterSeconds) * 1000, signal);
    }
  }
}
