import { eventAt, eventData } from '#base/event-splitter.ts';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json.ts';
import type { Sink } from '#base/sink.ts';
import { fromLatin1 } from '#base/text-bytes.ts';
import type { RawCompletion } from '#contract/chunk.ts';
import { Frame, type RawFrame } from '#contract/frame.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { faultIn, faultOfNamed } from '../error-in-reply.ts';
import { toJsonObject } from '../reply-text.ts';
import type { EventReader, ReplyDialect } from '../upstream-reply.ts';
import { readRefusal } from './read-reply.ts';
import { TextEvents } from './text-events.ts';

const endMark = '[DONE]';
const endEvent = `data: ${endMark}\n\n`;
/** What stands around the data of an event of one line. */
const dataStart = 'data: '.length;
const lineEnds = 2;

/** The events of a chat reply, up to `[DONE]`. Runs of plain text pass without being parsed. */
export class ChatEvents implements EventReader {
  readonly #text = new TextEvents();
  hasEnded = false;

  take(events: string, reply: Pick<Sink<RawFrame>, 'frame'>): void {
    for (let at = 0; at < events.length && !this.hasEnded; ) {
      const end = this.#text.runEnd(events, at);
      if (end > at) {
        reply.frame(Frame.ofText(events.slice(at, end), this.#text.textBytes, this.#text.contentSlot));
        at = end;
        continue;
      }
      const event = eventAt(events, at);
      const { bytes, isLast } = toDataOnly(event);
      this.hasEnded = isLast;
      at += event.length;
      if (bytes === '') continue;
      const frame = toFrame(bytes);
      if (bytes === event) this.#text.learn(event, frame.chunks);
      reply.frame(frame);
    }
  }

  isEndMark(event: string): boolean {
    return toDataOnly(event).isLast;
  }
}

/** One event without comments and fields other than data; nothing of the end mark, and of one without data. Throws the fault that its name means. */
function toDataOnly(event: string): { bytes: string; isLast: boolean } {
  if (event === endEvent) return { bytes: '', isLast: true };
  if (event.startsWith('data: {') && event.indexOf('\n') === event.length - 2) return { bytes: event, isLast: false };
  const named = faultOfNamed(event);
  if (named !== undefined) throw named;
  const [data] = eventData(event);
  if (data?.trim() === endMark) return { bytes: '', isLast: true };
  return { bytes: data === undefined || data.trim() === '' ? '' : toBytes(data), isLast: false };
}

/** An event of one line; a line feed in JSON is white space. */
function toBytes(data: string): string {
  return `data: ${data.replaceAll('\n', ' ')}\n\n`;
}

/** The frame of an event of one line. Throws the fault that an error event means. */
function toFrame(event: string): RawFrame {
  const value = tryParseJson(fromLatin1(event.slice(dataStart, -lineEnds)));
  if (!isJsonObject(value)) throw new UpstreamFault('broken', 'The upstream sent an event that is not a JSON object.');
  const fault = faultIn(value);
  if (fault !== undefined) throw fault;
  requireDeltas(value);
  return Frame.ofEvent(event, value);
}

function toCompletionFrame(bytes: string): RawFrame {
  const completion = toJsonObject(bytes);
  const fault = faultIn(completion);
  if (fault !== undefined) throw fault;
  requireMessages(completion);
  return Frame.ofRawCompletion(completion as RawCompletion, bytes);
}

type Fields = Readonly<Record<string, unknown>>;

/** Requires that a whole reply has choices with messages that say something in their own form. Throws UpstreamFault. */
function requireMessages({ choices }: JsonObject): void {
  if (!Array.isArray(choices) || !choices.every(isJsonObject)) throw noCompletion('that is no chat completion');
  for (const { message, finish_reason: reason } of choices as readonly Fields[]) {
    // What a filter took out may be missing.
    if (isJsonObject(message)) requireSaid(message);
    else if (message !== undefined || reason !== 'content_filter') throw noCompletion('with a choice that has no message');
  }
}

/** The same of an event: what is missing comes with another. */
function requireDeltas({ choices }: JsonObject): void {
  if ((choices ?? null) !== null && !Array.isArray(choices)) throw noCompletion('whose choices are no list');
  for (const choice of Array.isArray(choices) ? choices : []) {
    if (!isJsonObject(choice) || choice.delta === undefined || choice.delta === null) continue;
    if (!isJsonObject(choice.delta)) throw noCompletion('with a choice whose delta is no object');
    requireSaid(choice.delta);
  }
}

function requireSaid({ content, tool_calls: calls, function_call: called }: Fields): void {
  const isText = typeof content === 'string' || (content ?? null) === null;
  if (!isText && !(Array.isArray(content) && content.every(isJsonObject))) throw noCompletion('whose content is no text');
  if ((calls ?? null) !== null && !(Array.isArray(calls) && calls.every(isCall))) throw noCompletion('whose tool calls are none');
  if ((called ?? null) !== null && !isJsonObject(called)) throw noCompletion('whose function call is none');
}

function isCall(call: unknown): boolean {
  return isJsonObject(call) && ((call.function ?? null) === null || isJsonObject(call.function));
}

function noCompletion(what: string): UpstreamFault {
  return new UpstreamFault('broken', `The upstream answered with JSON ${what}.`);
}

/** A chat reply, streamed or in one JSON text. */
export const chatReply: ReplyDialect = { readEvents: () => new ChatEvents(), readWhole: toCompletionFrame, readRefusal };
