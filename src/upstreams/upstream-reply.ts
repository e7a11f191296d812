import type { Exchange, HttpClient, HttpError, HttpRequest, ReplyHeaders, ReplyListener } from '#base/http/client.ts';
import { EventSplitter, EventTooLarge, getEventAt } from '#base/stream/event-splitter.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { RawFrame } from '#contract/chat/frame.ts';
import { type Attempt, UpstreamError } from '#domain/upstreams/upstream.ts';
import { createIncompleteError, createUnansweredError, toEarlyError, toUpstreamError } from './to-upstream-error.ts';

const maxReplyBytes = 64 * 1024 * 1024;
const maxErrorReplyBytes = 64 * 1024;
/** Maximum time in one turn of the event loop for the events of one reply, so that other requests are served. */
const maxTurnMs = 10;
/** Events are read in slices of about this length, and the time is measured after each slice. */
const sliceLength = 8 * 1024;
/** Time that the rest of a reply may take after its end mark. Its connection can be reused only after the rest has arrived. */
const restMs = 500;

/** Readers for the replies of one dialect. They throw an `UpstreamError` for replies that they cannot read. */
export interface ReplyDialect<Item = RawFrame> {
  /** Creates the reader for the events of one reply. Undefined if there are no streamed replies. */
  createEventReader?(headers: ReplyHeaders): EventReader<Item>;
  /**
   * Returns a function that converts each chunk of latin1 bytes, so that the reply is forwarded while it arrives. Returns undefined
   * for a reply that must be read completely first.
   */
  createByteReader?(headers: ReplyHeaders): ((bytes: string) => Item) | undefined;
  /** Reads a reply that is one JSON document. The bytes are latin1. */
  readComplete(bytes: string, headers: ReplyHeaders): Item;
  /** Returns the error for a reply with a status other than 200. Its `bytes` are latin1, and empty if the body is not available. */
  readErrorReply(reply: ErrorReply): UpstreamError;
}

/** Receivers of a reply. `attempt` receives the headers of every reply, including error replies. */
export interface ReplyReaders<Item> {
  readonly dialect: ReplyDialect<Item>;
  readonly attempt: Pick<Attempt, 'upstream' | 'onHeaders' | 'onQuotaHeaders'>;
  readonly sink: Sink<Item>;
}

export interface ErrorReply {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly bytes: string;
}

/** Receiver of the frames of a reply. */
export type FrameSink<Item = RawFrame> = Pick<Sink<Item>, 'push'>;

export interface EventReader<Item = RawFrame> {
  /** Whether the end of the reply has been read. */
  readonly hasEnded: boolean;
  /**
   * Pushes the frames for complete events, in order. If an event is an error, throws `UpstreamError` after the frames of the
   * events before it.
   */
  readEvents(events: string, reply: FrameSink<Item>): void;
  /** Returns whether an event ends the reply. Some upstreams close directly after it, without its empty line. */
  isEndMark(event: string): boolean;
}

/**
 * Sends a request and pushes the reply, which is a stream or one JSON document. The reply fails if the stream closes without its
 * end mark or has an error event. A stream that closes before its first event counts as unanswered.
 */
export function sendForReply<Item>(
  http: HttpClient,
  request: HttpRequest,
  { dialect, attempt, sink }: ReplyReaders<Item>,
): Handle {
  const reply = new UpstreamReply(dialect, sink, attempt);
  reply.exchange = http.send(request, reply);
  return reply;
}

type State = 'head' | 'events' | 'bytes' | 'complete' | 'error' | 'ended';

class UpstreamReply<Item> implements ReplyListener, Handle {
  readonly #dialect: ReplyDialect<Item>;
  readonly #sink: Sink<Item>;
  readonly #attempt: ReplyReaders<Item>['attempt'];
  /** Undefined before the request is sent and after the reply has arrived. */
  exchange: Exchange | undefined;
  #state: State = 'head';
  #events: EventReader<Item> | undefined;
  #splitter: EventSplitter | undefined;
  #readBytes: ((bytes: string) => Item) | undefined;
  #hasStarted = false;
  /** Status and headers of a complete reply or an error reply. */
  #head: Omit<ErrorReply, 'bytes'> | undefined;
  #bytes = '';
  #turnMs = 0;
  /** Whether the remaining events are read in a later turn of the event loop. */
  #isBehind = false;
  #isPaused = false;
  /** Complete events that wait for that turn. */
  #unread = '';
  /** Ends the reply. Set if the end arrived while events were waiting. */
  #onAllRead: (() => void) | undefined;

  constructor(dialect: ReplyDialect<Item>, sink: Sink<Item>, attempt: ReplyReaders<Item>['attempt']) {
    this.#dialect = dialect;
    this.#sink = sink;
    this.#attempt = attempt;
  }

  head(status: number, headers: ReplyHeaders): void {
    if (this.#state !== 'head') return;
    const { upstream, onHeaders, onQuotaHeaders } = this.#attempt;
    onHeaders?.(headers);
    onQuotaHeaders?.(upstream, headers);
    const isStream = headers['content-type']?.toLowerCase().includes('text/event-stream') === true;
    if (status === 200 && isStream && this.#dialect.createEventReader !== undefined) {
      this.#state = 'events';
      this.#events = this.#dialect.createEventReader(headers);
      this.#splitter = new EventSplitter();
      return;
    }
    this.#readBytes = status === 200 ? this.#dialect.createByteReader?.(headers) : undefined;
    this.#state = status !== 200 ? 'error' : this.#readBytes === undefined ? 'complete' : 'bytes';
    this.#head = { status, headers };
  }

  bytes(text: string): void {
    if (this.#state === 'events') this.#push(text);
    else if (this.#state === 'bytes') this.#forwardBytes(text);
    else if (this.#state === 'complete') this.#append(text, maxReplyBytes);
    else if (this.#state === 'error') this.#append(text, maxErrorReplyBytes);
  }

  end(): void {
    if (this.#state === 'events') this.#finish(() => this.#onClosed());
    else if (this.#state === 'bytes') this.#endBytes();
    else if (this.#state === 'complete') this.#endComplete();
    else if (this.#state === 'error') this.#failWithReply(this.#bytes);
    this.exchange = undefined;
  }

  fail(error: HttpError): void {
    if (this.#state === 'error') this.#failWithReply('');
    else this.#finish(() => this.#fail(this.#hasStarted || this.#bytes !== '' ? toUpstreamError(error) : toEarlyError(error)));
  }

  /** Receives the frames of the event reader. */
  push(frame: Item): void {
    if (this.#state !== 'events') return;
    this.#hasStarted = true;
    this.#sink.push(frame);
  }

  pause(): void {
    this.#isPaused = true;
    this.exchange?.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.#isBehind) this.#readLater();
    else this.exchange?.resume();
  }

  cancel(): void {
    this.#state = 'ended';
    this.#unread = '';
    this.exchange?.cancel();
  }

  /** Reads the events that `text` completes. */
  #push(text: string): void {
    try {
      const events = this.#splitter?.push(text) ?? '';
      if (this.#isBehind) this.#unread += events;
      else this.#readEvents(events);
    } catch (error) {
      this.#finish(() => this.#fail(error));
    }
  }

  /** Calls `end` as soon as no events wait. */
  #finish(end: () => void): void {
    if (this.#isBehind) this.#onAllRead ??= end;
    else end();
  }

  /** Reads complete events until `maxTurnMs` is used up. Otherwise, a flood of small events would block the event loop. */
  #readEvents(events: string): void {
    const reader = this.#events;
    if (reader === undefined) return;
    for (let position = 0; position < events.length; ) {
      const end = findSliceEnd(events, position);
      const startMs = performance.now();
      try {
        reader.readEvents(events.slice(position, end), this);
      } catch (error) {
        return this.#fail(error);
      }
      if (this.#state !== 'events') return;
      if (reader.hasEnded) return this.#endEvents();
      position = end;
      this.#turnMs += performance.now() - startMs;
      if (this.#turnMs < maxTurnMs) continue;
      this.#turnMs = 0;
      this.#unread = events.slice(position);
      this.#isBehind = true;
      this.exchange?.pause();
      return this.#readLater();
    }
  }

  #endEvents(): void {
    this.#state = 'ended';
    this.exchange?.endWithin(restMs);
    this.exchange?.resume();
    this.#sink.end();
  }

  #readLater(): void {
    setImmediate(() => {
      if (this.#state !== 'events' || this.#isPaused || !this.#isBehind) return;
      this.#isBehind = false;
      const events = this.#unread;
      this.#unread = '';
      this.#readEvents(events);
      if (this.#state !== 'events' || this.#isBehind) return;
      if (this.#onAllRead !== undefined) this.#onAllRead();
      else if (!this.#isPaused) this.exchange?.resume();
    });
  }

  /** Called if the reply ends before the end mark and its empty line arrive. */
  #onClosed(): void {
    const incompleteEvent = this.#splitter?.incompleteEvent ?? '';
    try {
      if (!this.#hasStarted && incompleteEvent.trim() === '') throw createUnansweredError();
      if (!this.#events?.isEndMark(incompleteEvent)) throw createIncompleteError();
      this.#readEvents(`${incompleteEvent.trimEnd()}\n\n`);
    } catch (error) {
      this.#fail(error);
    }
  }

  #forwardBytes(text: string): void {
    const item = this.#readBytes?.(text);
    if (item === undefined) return;
    this.#hasStarted = true;
    this.#sink.push(item);
  }

  #endBytes(): void {
    if (!this.#hasStarted) return this.#fail(createUnansweredError());
    this.#state = 'ended';
    this.#sink.end();
  }

  #append(text: string, maxBytes: number): void {
    this.#bytes += text;
    if (this.#bytes.length <= maxBytes) return;
    if (this.#state === 'error') this.#failWithReply('');
    else this.#fail(new UpstreamError('broken', `The upstream's answer is larger than ${maxBytes} bytes.`));
  }

  #endComplete(): void {
    try {
      if (this.#bytes === '') throw createUnansweredError();
      const item = this.#dialect.readComplete(this.#bytes, this.#head?.headers ?? {});
      this.#bytes = '';
      this.#sink.push(item);
    } catch (error) {
      return this.#fail(error);
    }
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#sink.end();
  }

  #failWithReply(bytes: string): void {
    const { status = 0, headers = {} } = this.#head ?? {};
    this.#fail(this.#dialect.readErrorReply({ status, headers, bytes }));
  }

  #fail(error: unknown): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#bytes = '';
    this.exchange?.cancel();
    const isTooLarge = error instanceof EventTooLarge;
    this.#sink.fail(
      isTooLarge ? new UpstreamError('broken', 'The upstream sent an event that is too large.', { cause: error }) : error,
    );
  }
}

/** Returns the end of the slice that begins at an index. A slice ends with an event. */
function findSliceEnd(events: string, start: number): number {
  if (events.length - start <= sliceLength) return events.length;
  const last = start + sliceLength;
  return last + getEventAt(events, last).length;
}
