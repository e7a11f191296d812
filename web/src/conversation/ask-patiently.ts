import type { Chunk } from '#contract/chat/chunk.ts';
import { type Fault, faultOf } from '../service/fault.ts';
import type { Service } from '../service/service.ts';
import { type Ask, streamReply } from '../service/stream-reply.ts';

/** Why an answer is not there yet, and when it is asked for again. */
export interface Retry {
  readonly fault: Fault;
  readonly atMs: number;
  /** Of `mostRetries`, from 1 on. */
  readonly number: number;
}

export const mostRetries = 3;
const longestWaitSeconds = 15;

/**
 * The chunks of a reply. A refusal that says when to come back did nothing yet, so the same is asked again then, unless that is
 * long; `tell` is called with each such wait, and with undefined once it is over. Throws as `streamReply` does.
 */
export async function* askPatiently(service: Service, ask: Ask, tell: (retry: Retry | undefined) => void): AsyncGenerator<Chunk> {
  for (let number = 1; ; number += 1) {
    let hasBegun = false;
    try {
      for await (const chunk of streamReply(service, ask)) {
        hasBegun = true;
        yield chunk;
      }
      return;
    } catch (thrown) {
      const fault = faultOf(thrown);
      const waitMs = toWaitMs(fault);
      if (hasBegun || waitMs === undefined || number > mostRetries || ask.signal.aborted) throw thrown;
      tell({ fault, number, atMs: Date.now() + waitMs });
      await pause(waitMs, ask.signal);
      tell(undefined);
    }
  }
}

function toWaitMs({ status, retryAfterSeconds = Number.POSITIVE_INFINITY }: Fault): number | undefined {
  const isForNow = status === 429 || status === 503;
  return isForNow && retryAfterSeconds <= longestWaitSeconds ? retryAfterSeconds * 1000 : undefined;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
