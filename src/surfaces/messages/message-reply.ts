import { tryParseJson } from '#base/json.ts';
import { toLatin1 } from '#base/text-bytes.ts';
import { ParleyError } from '#contract/errors.ts';
import { answerBound, FoldRoom } from '#contract/fold-frames.ts';
import type { Frame, Native } from '#contract/frame.ts';
import { toMessagesError } from '#contract/messages/error-body.ts';
import type { ReplySink } from '#domain/call.ts';
import { thoughtFields } from '#domain/upstreams/lost-thoughts.ts';
import type { EventHead } from '../http/event-stream.ts';
import type { RequestContext } from '../http/request-context.ts';
import { sendJson } from '../http/send-json.ts';
import type { EventWriter } from '../http/streamed-reply.ts';
import { toNamedEvent, toTextEvents } from './message-event.ts';
import { MessageFold } from './message-fold.ts';
import { inOwnWords } from './relayed-fault.ts';
import type { ReplyEvents } from './reply-events.ts';
import { toReplyHeaders } from './reply-headers.ts';

const ping = toNamedEvent({ type: 'ping' });
/** What keeps a relayed stream open adds no event to it. */
const comment = ': ping\n\n';
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON allows none of them.
const escapesOrControls = /[\0-\x1f\\]/;

/** Sends a reply as one JSON text: a relayed one as it came, any other folded. */
export class JsonMessage implements ReplySink {
  readonly #context: RequestContext;
  readonly #events: ReplyEvents;
  readonly #ignored: readonly string[];
  readonly #fold = new MessageFold();
  #relayed: Frame | undefined;
  readonly #room = new FoldRoom(answerBound);

  /** `ignored` are the fields that the translation of the request left out. */
  constructor(context: RequestContext, events: ReplyEvents, ignored: readonly string[]) {
    this.#context = context;
    this.#events = events;
    this.#ignored = ignored;
  }

  /** Throws upstream_failed for a reply that is too large, or in a form that was not asked for. */
  frame(frame: Frame): void {
    this.#room.take(frame);
    if (frame.native !== undefined) {
      requireForm(frame.native, 'whole');
      this.#relayed = frame;
    } else for (const event of frame.chunks.flatMap((chunk) => this.#events.take(chunk))) this.#fold.add(event);
  }

  end(): void {
    const context = this.#context;
    const relayed = this.#relayed;
    if (relayed === undefined) for (const event of this.#events.end()) this.#fold.add(event);
    const headers = headersOf(context, relayed, this.#ignored);
    sendJson(context.response, 200, relayed?.bytes ?? toLatin1(JSON.stringify(this.#fold.message)), headers);
  }

  fail(thrown: unknown): void {
    this.#context.sendError(thrown);
  }
}

/** Writes a reply as events of the dialect: a relayed one byte for byte. */
export class MessageWriter implements EventWriter {
  readonly #events: ReplyEvents;
  readonly #ignored: readonly string[];
  #isRelayed = false;

  constructor(events: ReplyEvents, ignored: readonly string[]) {
    this.#events = events;
    this.#ignored = ignored;
  }

  begin(context: RequestContext, first: Frame): EventHead {
    if (first.native !== undefined) requireForm(first.native, 'streamed');
    this.#isRelayed = first.native !== undefined;
    return { headers: headersOf(context, first, this.#ignored), heartbeat: this.#isRelayed ? comment : ping };
  }

  toBytes(frame: Frame): string {
    if (frame.native !== undefined) return frame.bytes;
    const { openText } = this.#events;
    if (openText !== undefined) {
      const pieces = frame.contentPieces;
      if (pieces?.every(isJsonText)) return toTextEvents(pieces, openText);
    }
    return frame.chunks.flatMap((chunk) => this.#events.take(chunk).map(toNamedEvent)).join('');
  }

  end(): string {
    return this.#isRelayed ? '' : this.#events.end().map(toNamedEvent).join('');
  }

  toFault(error: ParleyError, context: RequestContext): string {
    return toNamedEvent(toMessagesError(this.#isRelayed ? inOwnWords(error) : error, context.id));
  }
}

function headersOf(context: RequestContext, frame: Frame | undefined, ignored: readonly string[]): Record<string, string> {
  const ofTranslation = frame?.native === undefined ? ignored : [];
  const all = [...new Set([...ofTranslation, ...[...context.ignored].map(toOwnName)])];
  return toReplyHeaders(frame?.native, { usual: context.headers, ignored: all, nowEpochMs: context.clock.epochMs() });
}

/** Returns the name that a field of the chat dialect has in this one. */
function toOwnName(field: string): string {
  return field === thoughtFields.plain || field === thoughtFields.signed ? 'content.thinking' : field;
}

/** Whether a piece is sure to be JSON between quotes: one that is not is for the parser to refuse. */
function isJsonText(piece: string): boolean {
  return !escapesOrControls.test(piece) || tryParseJson(`"${piece}"`) !== undefined;
}

function requireForm({ isWhole }: Native, asked: 'whole' | 'streamed'): void {
  if (isWhole === (asked === 'whole')) return;
  const claim = isWhole ? 'in one piece where a stream was asked for' : 'with a stream that was not asked for';
  throw new ParleyError('upstream_failed', `The upstream answered ${claim}.`);
}
