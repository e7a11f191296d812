import type { Chunk } from '#contract/chat/chunk.ts';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';

/** Why an answer is delayed, and when it is requested again. */
export interface Retry {
  readonly error: ErrorDetails;
  readonly atMs: number;
  /** Number of the retry, from 1 to `maxRetries`. */
  readonly number: number;
}

export const maxRetries = 3;
const maxWaitSeconds = 15;

/**
 * Streams the chunks of a reply. Repeats a request that the service rejected with a short retry time, because such a request had
 * no effect. `onRetry` is called with each wait, and with undefined when the wait is over. Throws the same errors as `stream`.
 */
export async function* streamReplyWithRetries(
  stream: () => AsyncGenerator<Chunk>,
  signal: AbortSignal,
  onRetry: (retry: Retry | undefined) => void,
): AsyncGenerator<Chunk> {
  for (let number = 1; ; number += 1) {
    let hasStarted = false;
    try {
      for await (const chunk of stream()) {
        hasStarted = true;
        yield chunk;
      }
      return;
    } catch (error) {
      const details = toErrorDetails(error);
      const waitMs = toWaitMs(details);
      if (hasStarted || waitMs === undefined || number > maxRetries || signal.aborted) throw error;
      onRetry({ error: details, number, atMs: Date.now() + waitMs });
      await sleep(waitMs, signal);
      onRetry(undefined);
    }
  }
}

function toWaitMs({ status, retryAfterSeconds = Number.POSITIVE_INFINITY }: ErrorDetails): number | undefined {
  const isTemporary = status === 429 || status === 503;
  return isTemporary && retryAfterSeconds <= maxWaitSeconds ? retryAfterSeconds * 1000 : undefined;
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
