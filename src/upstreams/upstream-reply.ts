import type { Exchange, HttpClient, HttpFault, HttpRequest, ReplyHeaders, ReplyListener } from '#base/http/client.ts';
import { EventSplitter, EventTooLarge } from '#base/stream/event-splitter.ts';
import type { Handle, Sink } from '#base/stream/sink.ts';
import type { RawFrame } from '#contract/chat/frame.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { toEarlyFault, toUpstreamFault, unanswered } from './to-upstream-fault.ts';

const maxWholeBytes = 64 * 1024 * 1024;
const maxRefusalBytes = 64 * 1024;
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
    if (this.#state === 'events') this.#readEvents(text, this.#splitter);
    else if (this.#state === 'pieces') this.#pass(text);
    else if (this.#state === 'whole') this.#gather(text, maxWholeBytes);
    else if (this.#state === 'refusal') this.#gather(text, maxRefusalBytes);
  }

  end(): void {
    if (this.#state === 'events') this.#closed();
    else if (this.#state === 'pieces') this.#endPieces();
    else if (this.#state === 'whole') this.#endWhole();
    else if (this.#state === 'refusal') this.#refuse(this.#bytes);
    this.exchange = undefined;
  }

  fail(fault: HttpFault): void {
    if (this.#state === 'refusal') this.#refuse('');
    else this.#giveUp(this.#hasBegun || this.#bytes !== '' ? toUpstreamFault(fault) : toEarlyFault(fault));
  }

  /** Takes what the reader of the events pushes. */
  frame(frame: Item): void {
    if (this.#state !== 'events') return;
    this.#hasBegun = true;
    this.#sink.frame(frame);
  }

  pause(): void {
    this.exchange?.pause();
  }

  resume(): void {
    this.exchange?.resume();
  }

  cancel(): void {
    this.#state = 'over';
    this.exchange?.cancel();
  }

  /** Reads whole events, or with a splitter those that become whole. */
  #readEvents(text: string, splitter?: EventSplitter): void {
    const reader = this.#events;
    try {
      reader?.take(splitter === undefined ? text : splitter.push(text), this);
    } catch (thrown) {
      return this.#giveUp(thrown);
    }
    if (reader?.hasEnded !== true || this.#state !== 'events') return;
    this.#state = 'over';
    this.exchange?.endWithin(restMs);
    this.#sink.end();
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
