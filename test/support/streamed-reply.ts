import { expect } from 'vitest';
import type { Exchange, HttpClient, HttpRequest, ReplyListener } from '#base/http/client.ts';
import type { RawFrame } from '#contract/chat/frame.ts';
import type { Upstream } from '#domain/upstreams/upstream.ts';
import { type EventReader, type ReplyDialect, sendForReply } from '#upstreams/upstream-reply.ts';

/** The content of a streamed reply. */
export interface StreamedReply {
  readonly frames: readonly RawFrame[];
  /** Error of a failed stream. */
  readonly error: unknown;
  /** Time that the connection may stay open after the end mark. Undefined if it was closed. */
  readonly endsWithinMs: number | undefined;
}

/**
 * Returns the frames of a streamed reply. The reader receives the pieces one by one. Then the connection closes unless it stays
 * open.
 */
export async function readFrames(
  pieces: readonly string[],
  reader: EventReader,
  { staysOpen = false, contentType = 'text/event-stream' } = {},
): Promise<StreamedReply> {
  const frames: RawFrame[] = [];
  let failure: unknown;
  const dialect: ReplyDialect = {
    createEventReader: () => reader,
    readComplete: () => expect.unreachable('the reply is a stream'),
    readErrorReply: () => expect.unreachable('the reply is a stream'),
  };
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const sink = {
    push: (frame: RawFrame) => void frames.push(frame),
    end: resolve,
    fail: (error: unknown) => {
      failure = error;
      resolve();
    },
  };
  const client = new ScriptedClient(pieces, staysOpen, contentType);
  sendForReply(client, {} as HttpRequest, { dialect, attempt: { upstream: {} as Upstream }, sink });
  await ended;
  return { frames, error: failure, endsWithinMs: client.endsWithinMs };
}

class ScriptedClient implements HttpClient, Exchange {
  readonly #pieces: readonly string[];
  readonly #staysOpen: boolean;
  readonly #contentType: string;
  #isCancelled = false;
  endsWithinMs: number | undefined;

  constructor(pieces: readonly string[], staysOpen: boolean, contentType: string) {
    this.#pieces = pieces;
    this.#staysOpen = staysOpen;
    this.#contentType = contentType;
  }

  send(_request: HttpRequest, listener: ReplyListener): Exchange {
    queueMicrotask(() => this.#answer(listener));
    return this;
  }

  pause(): void {}
  resume(): void {}
  close(): void {}

  cancel(): void {
    this.#isCancelled = true;
  }

  endWithin(ms: number): void {
    this.endsWithinMs = ms;
  }

  #answer(listener: ReplyListener): void {
    listener.head(200, { 'content-type': this.#contentType });
    for (const piece of this.#pieces) if (piece !== '' && !this.#isCancelled) listener.bytes(piece);
    if (!this.#staysOpen && !this.#isCancelled) listener.end();
  }
}
