import type { Exchange, HttpClient, HttpFault, HttpRequest, ReplyHeaders, ReplyListener } from '#base/http/client.ts';
import { EventSplitter, EventTooLarge, eventAt } from '#base/stream/event-splitter.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { RawFrame } from '#contract/chat/frame.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { toEarlyFault, toUpstreamFault, unanswered } from './to-upstream-fault.ts';

const maxWholeBytes = 64 * 1024 * 1024;
const maxRefusalBytes = 64 * 1024;
/** Work on the events of one reply in one turn of the event loop, after which other requests are served. */
const maxTurnMs = 10;
/** Events are read in pieces of about this length, and the time is measured after each piece. */
const pieceLength = 8 * 1024;
/** How long the rest of a reply may take after its end mark, so that its connection can serve again. */
const restMs = 500;

/** How the replies of one dialect are read. What cannot be read is thrown as an UpstreamFault. */
export interface ReplyDialect<Item = RawFrame> {
  /** Reads the events of one reply with these header fields; absent if there are no streamed replies. */
  readEvents?(headers: ReplyHeaders): EventReader<Item>;
  /** Passes on what comes in neither form, piece by piece, as latin1 bytes; undefined for what has to be read as a whole. */
  readPieces?(headers: ReplyHeaders): ((piece: string) => Item) | undefined;
  /** Called with the header fields of whatever answer comes; absent if nobody wants to know. */
  noteHeaders?: (headers: ReplyHeaders) => void;
  /** A reply in one JSON text, given as latin1 bytes. */
  readWhole(bytes: string, headers: ReplyHeaders): Item;
  /** The fault that a reply with another status than 200 means; its text as latin1 bytes, empty if it cannot be had. */
  readRefusal(refusal: Refusal): UpstreamFault;
}

export interface Refusal {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly bytes: string;
}

/** What the events of one reply mean, in one dialect. */
export interface EventReader<Item = RawFrame> {
  /** Whether the reply came to its own end. */
  readonly hasEnded: boolean;
  /** Pushes the frames that whole events mean, in order. Throws UpstreamFault after the frames of the events before the fault. */
  take(events: string, reply: Pick<Sink<Item>, 'frame'>): void;
  /** Whether an event ends the reply. Some upstreams close right behind this one, without its empty line. */
  isEndMark(event: string): boolean;
}

/**
 * Sends a request and pushes the reply, streamed or in one JSON text. A stream that closes without its end mark, or brings
 * an error event, is a fault; one that closes ahead of its first event counts as no answer.
 */
export function sendForReply<Item>(
  http: HttpClient,
  request: HttpRequest,
  dialect: ReplyDialect<Item>,
  sink: Sink<Item>,
): Handle {
  const reply = new UpstreamReply(dialect, sink);
  reply.exchange = http.send(request, reply);
  return reply;
}

type State = 'head' | 'events' | 'pieces' | 'whole' | 'refusal' | 'over';

class UpstreamReply<Item> implements ReplyListener, Handle {
  readonly #dialect: ReplyDialect<Item>;
  readonly #sink: Sink<Item>;
  /** Undefined once the reply has come, or before it is asked for. */
  exchange: Exchange | undefined;
  #state: State = 'head';
  #events: EventReader<Item> | undefined;
  #splitter: EventSplitter | undefined;
  #toPiece: ((piece: string) => Item) | undefined;
  #hasBegun = false;
  /** Of a whole reply, or a refusal. */
  #head: Omit<Refusal, 'bytes'> | undefined;
  #bytes = '';
  #workedMs = 0;
  /** Whether events are read on in a later turn of the event loop. */
  #isBehind = false;
  #isPaused = false;
  /** Complete events that wait for that turn. */
  #unread = '';
  /** The end of the reply, if it came while events waited. */
  #afterUnread: (() => void) | undefined;

  constructor(dialect: ReplyDialect<Item>, sink: Sink<Item>) {
    this.#dialect = dialect;
    this.#sink = sink;
  }

  head(status: number, headers: ReplyHeaders): void {
    if (this.#state !== 'head') return;
    this.#dialect.noteHeaders?.(headers);
    if (status === 200 && this.#dialect.readEvents !== undefined && headers['content-type']?.includes('text/event-stream')) {
      this.#state = 'events';
      this.#events = this.#dialect.readEvents(headers);
      this.#splitter = new EventSplitter();
      return;
    }
    this.#toPiece = status === 200 ? this.#dialect.readPieces?.(headers) : undefined;
    this.#state = status !== 200 ? 'refusal' : this.#toPiece === undefined ? 'whole' : 'pieces';
    this.#head = { status, headers };
  }

  bytes(text: string): void {
    if (this.#state === 'events') this.#push(text);
    else if (this.#state === 'pieces') this.#pass(text);
    else if (this.#state === 'whole') this.#gather(text, maxWholeBytes);
    else if (this.#state === 'refusal') this.#gather(text, maxRefusalBytes);
  }

  end(): void {
    if (this.#state === 'events') this.#finish(() => this.#closed());
    else if (this.#state === 'pieces') this.#endPieces();
    else if (this.#state === 'whole') this.#endWhole();
    else if (this.#state === 'refusal') this.#refuse(this.#bytes);
    this.exchange = undefined;
  }

  fail(fault: HttpFault): void {
    if (this.#state === 'refusal') this.#refuse('');
    else this.#finish(() => this.#giveUp(this.#hasBegun || this.#bytes !== '' ? toUpstreamFault(fault) : toEarlyFault(fault)));
  }

  /** Takes what the reader of the events pushes. */
  frame(frame: Item): void {
    if (this.#state !== 'events') return;
    this.#hasBegun = true;
    this.#sink.frame(frame);
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
    this.#state = 'over';
    this.#unread = '';
    this.exchange?.cancel();
  }

  /** Reads the events that are complete after one read of the connection. */
  #push(text: string): void {
    try {
      const events = this.#splitter?.push(text) ?? '';
      if (this.#isBehind) this.#unread += events;
      else this.#readEvents(events);
    } catch (thrown) {
      this.#finish(() => this.#giveUp(thrown));
    }
  }

  /** Calls back as soon as no events wait. */
  #finish(end: () => void): void {
    if (this.#isBehind) this.#afterUnread ??= end;
    else end();
  }

  /** Reads complete events until the time of this turn is used up. A flood of small events would hold the event loop. */
  #readEvents(events: string): void {
    const reader = this.#events;
    if (reader === undefined) return;
    for (let at = 0; at < events.length; ) {
      const end = findPieceEnd(events, at);
      const startMs = performance.now();
      try {
        reader.take(events.slice(at, end), this);
      } catch (thrown) {
        return this.#giveUp(thrown);
      }
      if (this.#state !== 'events') return;
      if (reader.hasEnded) return this.#endEvents();
      at = end;
      this.#workedMs += performance.now() - startMs;
      if (this.#workedMs < maxTurnMs) continue;
      this.#workedMs = 0;
      this.#unread = events.slice(at);
      this.#isBehind = true;
      this.exchange?.pause();
      return this.#readLater();
    }
  }

  #endEvents(): void {
    this.#state = 'over';
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
      if (this.#afterUnread !== undefined) this.#afterUnread();
      else if (!this.#isPaused) this.exchange?.resume();
    });
  }

  /** The connection has closed before an end mark with its empty line came. */
  #closed(): void {
    const rest = this.#splitter?.rest ?? '';
    try {
      if (!this.#hasBegun && rest.trim() === '') throw unanswered();
      if (!this.#events?.isEndMark(rest)) throw new UpstreamFault('broken', 'The upstream closed its answer before the end.');
      this.#readEvents(`${rest.trimEnd()}\n\n`);
    } catch (thrown) {
      this.#giveUp(thrown);
    }
  }

  #pass(text: string): void {
    const piece = this.#toPiece?.(text);
    if (piece === undefined) return;
    this.#hasBegun = true;
    this.#sink.frame(piece);
  }

  #endPieces(): void {
    if (!this.#hasBegun) return this.#giveUp(unanswered());
    this.#state = 'over';
    this.#sink.end();
  }

  #gather(text: string, maxBytes: number): void {
    this.#bytes += text;
    if (this.#bytes.length <= maxBytes) return;
    if (this.#state === 'refusal') this.#refuse('');
    else this.#giveUp(new UpstreamFault('broken', `The upstream's answer is larger than ${maxBytes} bytes.`));
  }

  #endWhole(): void {
    try {
      if (this.#bytes === '') throw unanswered();
      const item = this.#dialect.readWhole(this.#bytes, this.#head?.headers ?? {});
      this.#bytes = '';
      this.#sink.frame(item);
    } catch (thrown) {
      return this.#giveUp(thrown);
    }
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#sink.end();
  }

  #refuse(bytes: string): void {
    const { status = 0, headers = {} } = this.#head ?? {};
    this.#giveUp(this.#dialect.readRefusal({ status, headers, bytes }));
  }

  #giveUp(thrown: unknown): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#bytes = '';
    this.exchange?.cancel();
    const isTooLarge = thrown instanceof EventTooLarge;
    this.#sink.fail(
      isTooLarge ? new UpstreamFault('broken', 'The upstream sent an event that is too large.', { cause: thrown }) : thrown,
    );
  }
}

/** Returns where the piece that begins at an index ends: at the end of an event. */
function findPieceEnd(events: string, at: number): number {
  if (events.length - at <= pieceLength) return events.length;
  const last = at + pieceLength;
  return last + eventAt(events, last).length;
}
