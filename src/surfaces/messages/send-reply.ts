import { toLatin1 } from '#base/latin1.ts';
import { ParleyError } from '#contract/errors.ts';
import { answerBound, withinBytes } from '#contract/fold-frames.ts';
import type { Frame, Native } from '#contract/frame.ts';
import { toMessagesError } from '#contract/messages/error-body.ts';
import type { Reply } from '#domain/call.ts';
import type { EventStream } from '../http/event-stream.ts';
import type { RequestContext } from '../http/request-context.ts';
import { type EventWriter, sendEvents } from '../http/send-events.ts';
import { sendJson } from '../http/send-json.ts';
import { toNamedEvent } from './message-event.ts';
import { MessageFold } from './message-fold.ts';
import { inOwnWords } from './relayed-fault.ts';
import type { ReplyEvents } from './reply-events.ts';
import { toReplyHeaders } from './reply-headers.ts';

const ping = toNamedEvent({ type: 'ping' });
/** What keeps a relayed stream open adds no event to it. */
const comment = ': ping\n\n';

/** What is sent. */
export interface Sending {
  readonly reply: Reply;
  readonly events: ReplyEvents;
  /** What the translation of the request left out. */
  readonly ignored: readonly string[];
}

/** Sends a reply as one JSON text: a relayed one as it came, any other folded. */
export async function sendFolded(context: RequestContext, { reply, events, ignored }: Sending): Promise<void> {
  context.answersBy(reply);
  const fold = new MessageFold();
  let relayed: Frame | undefined;
  for await (const frame of withinBytes(reply.frames, answerBound)) {
    if (frame.native !== undefined) {
      requireForm(frame.native, 'whole');
      relayed = frame;
    } else for (const event of frame.chunks.flatMap((chunk) => events.take(chunk))) fold.add(event);
  }
  if (relayed === undefined) for (const event of events.end()) fold.add(event);
  const headers = headersOf(context, relayed, ignored);
  sendJson(context.response, 200, relayed?.bytes ?? toLatin1(JSON.stringify(fold.message)), headers);
}

/** Sends a reply as events: a relayed one byte for byte. */
export function sendStream(context: RequestContext, sending: Sending): Promise<void> {
  return sendEvents(context, sending.reply, new MessageWriter(sending));
}

class MessageWriter implements EventWriter {
  readonly #events: ReplyEvents;
  readonly #ignored: readonly string[];
  #isRelayed = false;

  constructor({ events, ignored }: Sending) {
    this.#events = events;
    this.#ignored = ignored;
  }

  begin(stream: EventStream, context: RequestContext, first: Frame): void {
    if (first.native !== undefined) requireForm(first.native, 'streamed');
    this.#isRelayed = first.native !== undefined;
    stream.start(headersOf(context, first, this.#ignored), this.#isRelayed ? comment : ping);
  }

  toBytes(frame: Frame): string {
    if (frame.native !== undefined) return frame.bytes;
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
  return toReplyHeaders(frame?.native, { usual: context.headers, ignored, nowEpochMs: context.clock.epochMs() });
}

function requireForm({ isWhole }: Native, asked: 'whole' | 'streamed'): void {
  if (isWhole === (asked === 'whole')) return;
  const claim = isWhole ? 'in one piece where a stream was asked for' : 'with a stream that was not asked for';
  throw new ParleyError('upstream_failed', `The upstream answered ${claim}.`);
}
