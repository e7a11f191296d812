import type { Frame } from '#contract/chat/frame.ts';
import type { ParleyError } from '#contract/errors/errors.ts';
import type { ReplySink } from '#domain/calls/call.ts';
import type { RequestContext } from '../request-context.ts';
import { type EventHead, EventStream } from './event-stream.ts';

/** Formats a reply as events of a dialect. All strings are latin1 bytes. */
export interface EventWriter {
  /** Returns the start of the stream. An error thrown here determines the HTTP status. */
  begin(context: RequestContext, first: Frame): EventHead;
  /** Returns the headers and first events of the stream if no frame arrives in time. */
  beginEarly?(context: RequestContext): { readonly head: EventHead; readonly bytes: string };
  toBytes(frame: Frame): string;
  /** Called before `end` or before an error is sent. Both wait for the returned promise, which never rejects. */
  settle?(error?: ParleyError): Promise<void> | undefined;
  /** Returns the last bytes of a complete reply. */
  end(): string;
  /** Returns the last bytes of a failed reply. */
  toErrorEvent(error: ParleyError, context: RequestContext): string;
}

/**
 * Sends a reply as events. An error before the first frame sets the HTTP status unless `beginWithin` has started the stream. A
 * later error is sent as an event.
 */
export class StreamedReply implements ReplySink {
  readonly #context: RequestContext;
  readonly #writer: EventWriter;
  #stream: EventStream | undefined;
  #hasFrames = false;
  #hasEnded = false;
  #earlyTimer: NodeJS.Timeout | undefined;

  constructor(context: RequestContext, writer: EventWriter) {
    this.#context = context;
    this.#writer = writer;
  }

  /** Starts the stream after `ms` milliseconds even if no frame has arrived. */
  beginWithin(ms: number): void {
    if (this.#stream === undefined && !this.#hasEnded) this.#earlyTimer = setTimeout(() => this.#beginEarly(), ms);
  }

  #beginEarly(): void {
    if (this.#stream !== undefined || this.#hasEnded || this.#context.isDisconnected) return;
    const earlyStart = this.#writer.beginEarly?.(this.#context);
    if (earlyStart === undefined) return;
    this.#stream = new EventStream(this.#context.response, earlyStart.head);
    this.#stream.send(earlyStart.bytes);
  }

  push(frame: Frame): void {
    const { record, clock } = this.#context;
    let stream = this.#stream;
    if (stream === undefined) {
      stream = new EventStream(this.#context.response, this.#writer.begin(this.#context, frame));
      this.#stream = stream;
      clearTimeout(this.#earlyTimer);
    }
    if (this.#hasFrames) record.recordChunk(clock.nowMs());
    else record.recordFirstByte(clock.nowMs());
    this.#hasFrames = true;
    if (!stream.send(this.#writer.toBytes(frame))) this.#context.pauseUntil(() => stream.whenDrained());
  }

  end(): void {
    const settling = this.#stream && this.#writer.settle?.();
    if (settling === undefined) this.#close();
    else settling.then(() => this.#close()).catch((error) => this.fail(error));
  }

  fail(cause: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#earlyTimer);
    const error = this.#context.recordError(cause);
    const settling = this.#writer.settle?.(error);
    if (settling === undefined) this.#sendError(error);
    else void settling.then(() => this.#sendError(error));
  }

  #sendError(error: ParleyError): void {
    const context = this.#context;
    if (this.#stream === undefined) context.sendError(error);
    else this.#endWithError(this.#stream, error);
  }

  /** Throws the error of the writer if it rejects the end of the reply. */
  #close(): void {
    if (this.#hasEnded) return;
    this.#stream?.send(this.#writer.end());
    this.#hasEnded = true;
    this.#stream?.end();
  }

  #endWithError(stream: EventStream, error: ParleyError): void {
    if (this.#context.isDisconnected) return stream.abandon();
    stream.send(this.#writer.toErrorEvent(error, this.#context));
    stream.end();
  }
}
