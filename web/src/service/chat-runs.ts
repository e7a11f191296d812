import { isJsonObject, tryParseJson } from '#base/json/json.ts';
import type { Chunk } from '#contract/chat/chunk.ts';
import type { Service } from './service.ts';
import { canceledCode, lostCode, ServiceError, toErrorDetails } from './service-error.ts';
import { type ReplyRequest, readEvents, toChunk, toRequestBody } from './stream-reply.ts';

/** Callbacks of a page that receives an answer. */
export interface RunListener {
  /** Called with true when the connection is lost, and with false when chunks arrive again. */
  readonly onReconnecting: (isReconnecting: boolean) => void;
  /** Called with the duration of an answer that ended, if the service reports it. The page may receive the end much later. */
  readonly onDuration: (durationMs: number) => void;
}

interface FollowOptions extends RunListener {
  readonly signal: AbortSignal;
}

const minWaitMs = 500;
const maxWaitMs = 8_000;
/** Maximum number of attempts to start an answer if the connection is lost. */
const maxStartAttempts = 4;
const maxCancelAttempts = 5;
const cancelRetryMs = 1_000;

/**
 * Answers that the service continues without this page (docs/wire.md, Chat runs). The page chooses their IDs, so that it can find
 * an answer whose start it did not receive.
 */
export class ChatRuns {
  readonly #service: Service;

  constructor(service: Service) {
    this.#service = service;
  }

  /**
   * Starts an answer and streams its chunks. If the connection is lost, continues after the last chunk. Throws the same errors as
   * `streamReply`, and `ServiceError` with `lostCode` or `canceledCode`.
   */
  async *start(id: string, request: ReplyRequest, listener: RunListener): AsyncGenerator<Chunk> {
    const response = await this.#post(id, request, listener);
    yield* this.#read(id, { signal: request.signal, ...listener }, response);
  }

  /**
   * Streams the chunks of an answer from the first one. If the answer is new, waits some seconds for its start. Throws
   * `ServiceError` with `lostCode` if the service does not have the answer.
   */
  async *follow(id: string, options: FollowOptions, isNew: boolean): AsyncGenerator<Chunk> {
    yield* this.#read(id, options, isNew ? await this.#awaitStart(id, options.signal) : undefined);
  }

  async #awaitStart(id: string, signal: AbortSignal): Promise<Response | undefined> {
    for (let attempt = 1; attempt <= maxStartAttempts; attempt += 1) {
      try {
        return await this.#open(id, -1, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (toErrorDetails(error).code !== lostCode) return undefined;
        await sleep(getWaitMs(attempt), signal);
      }
    }
    return undefined;
  }

  /** Stops an answer. Repeats the request if the connection is lost, or if the service may not have received the start yet. */
  async cancel(id: string): Promise<void> {
    for (let attempt = 1; attempt <= maxCancelAttempts; attempt += 1) {
      const error = await this.#service.send(`${getPath(id)}/cancel`, { method: 'POST' }).then(() => undefined, toErrorDetails);
      if (error === undefined || (error.status !== 0 && error.status !== 404)) return;
      await new Promise((resolve) => setTimeout(resolve, cancelRetryMs));
    }
  }

  /** Deletes an answer that is stored in its chat. A failure is not an error, because answers expire. */
  async remove(id: string): Promise<void> {
    await this.#service.send(getPath(id), { method: 'DELETE' }).catch(() => undefined);
  }

  /** Starts an answer. Returns undefined if the service already received an earlier attempt. */
  async #post(id: string, request: ReplyRequest, { onReconnecting }: RunListener): Promise<Response | undefined> {
    const { deployment, signal } = request;
    const body = { model: deployment, ...toRequestBody(request) };
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#service.send(getPath(id), { method: 'POST', body, signal });
      } catch (error) {
        signal.throwIfAborted();
        const { status, code } = toErrorDetails(error);
        if (attempt > 1 && code === 'precondition_failed') return undefined;
        if (status !== 0 || attempt === maxStartAttempts) throw error;
        onReconnecting(true);
        await sleep(getWaitMs(attempt), signal);
      }
    }
  }

  async *#read(id: string, { signal, onReconnecting, onDuration }: FollowOptions, first?: Response): AsyncGenerator<Chunk> {
    let response = first;
    let lastSequence = -1;
    let hasFailed = false;
    for (let failures = 0; ; ) {
      try {
        response ??= await this.#open(id, lastSequence, signal);
        onReconnecting(false);
        for await (const data of readEvents(response, signal)) {
          const event = tryParseJson(data);
          if (isJsonObject(event) && event.object === 'chat.run') {
            if (typeof event.duration_ms === 'number') onDuration(event.duration_ms);
            return requireNotCanceled(event.status);
          }
          hasFailed = isJsonObject(event) && event.error !== undefined;
          const chunk = toChunk(data, first);
          lastSequence = Number((chunk as { readonly sequence_number?: unknown }).sequence_number);
          failures = 0;
          yield chunk;
        }
        // The answer was deleted during the stream. The next request fails with `lostCode`.
        response = undefined;
      } catch (error) {
        if (signal.aborted || hasFailed || toErrorDetails(error).code !== 'broke_off') throw error;
        response = undefined;
        failures += 1;
        onReconnecting(true);
        await sleep(getWaitMs(failures), signal);
      }
    }
  }

  /**
   * Requests the chunks after a sequence number. Every error except a missing answer counts as temporary, because the answer
   * continues.
   */
  async #open(id: string, lastSequence: number, signal: AbortSignal): Promise<Response> {
    const query = lastSequence < 0 ? '' : `?starting_after=${lastSequence}`;
    try {
      return await this.#service.send(`${getPath(id)}${query}`, { signal });
    } catch (error) {
      signal.throwIfAborted();
      const isLost = toErrorDetails(error).code === 'response_not_found';
      throw new ServiceError({ status: 200, code: isLost ? lostCode : 'broke_off', message: '' }, error);
    }
  }
}

function requireNotCanceled(status: unknown): void {
  if (status === 'cancelled') throw new ServiceError({ status: 200, code: canceledCode, message: '' });
}

function getWaitMs(failures: number): number {
  return Math.min(maxWaitMs, minWaitMs * 2 ** (failures - 1));
}

/** Resolves after the time, or when the network returns. Rejects when the signal is aborted. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      removeEventListener('online', onOnline);
      signal.removeEventListener('abort', onAbort);
      settle();
    };
    const onOnline = (): void => end(resolve);
    const onAbort = (): void => end(() => reject(signal.reason));
    const timer = setTimeout(onOnline, ms);
    addEventListener('online', onOnline);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
}

function getPath(id: string): string {
  return `v1/chat-runs/${id}`;
}
