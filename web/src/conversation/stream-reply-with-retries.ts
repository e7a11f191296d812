import type { Chunk } from '#contract/chat/chunk.ts';
import type { Service } from '../service/service.ts';
import { type ErrorDetails, toErrorDetails } from '../service/service-error.ts';
import { type ReplyRequest, streamReply } from '../service/stream-reply.ts';

/** Why an answer is not there yet, and when it is asked for again. */
export interface Retry {
  readonly error: ErrorDetails;
  readonly atMs: number;
  /** Of `mostRetries`, from 1 on. */
  readonly number: number;
}

export const maxRetries = 3;
const maxWaitSeconds = 15;

/**
 * The chunks of a reply. A refusal that says when to come back did nothing yet, so the same is asked again then, unless that is
 * long; `tell` is called with each such wait, and with undefined once it is over. Throws as `streamReply` does.
 */
export async function* streamReplyWithRetries(
  service: Service,
  request: ReplyRequest,
  onRetry: (retry: Retry | undefined) => void,
): AsyncGenerator<Chunk> {
  for (let number = 1; ; number += 1) {
    let hasStarted = false;
    try {
      for await (const chunk of streamReply(service, request)) {
        hasStarted = true;
        yield chunk;
      }
      return;
    } catch (error) {
      const details = toErrorDetails(error);
      const waitMs = toWaitMs(details);
      if (hasStarted || waitMs === undefined || number > maxRetries || request.signal.aborted) throw error;
      onRetry({ error: details, number, atMs: Date.now() + waitMs });
      await sleep(waitMs, request.signal);
      onRetry(undefined);
    }
  }
}

function toWaitMs({ status, retryAfterSeconds = Number.POSITIVE_INFINITY }: ErrorDetails): number | undefined {
  const isForNow = status === 429 || status === 503;
  return isForNow && retryAfterSeconds <= maxWaitSeconds ? retryAfterSeconds * 1000 : undefined;
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
