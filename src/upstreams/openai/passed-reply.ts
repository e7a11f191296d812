import type { ReplyHeaders } from '#base/http/client.ts';
import { defaultJsonBounds, isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { eventAt, eventData } from '#base/stream/event-splitter.ts';
import type { Sink } from '#base/stream/sink.ts';
import { fromLatin1 } from '#base/text/bytes.ts';
import { type PassThroughTraits, passThrough } from '#contract/pass-through.ts';
import { type PassedFrame, type PassThroughRequest, UpstreamFault } from '#domain/upstreams/upstream.ts';
import { faultIn, faultOfNamed } from '../error-in-reply.ts';
import { toJsonObject } from '../reply-text.ts';
import type { EventReader, ReplyDialect } from '../upstream-reply.ts';
import { readRefusal } from './read-reply.ts';

const endMark = '[DONE]';

/** Images come as base64: few values, long ones. */
const imageBounds = { ...defaultJsonBounds, maxParsedChars: Number.POSITIVE_INFINITY };

/** The answer to a request that is passed through: JSON, events, or whatever media the API has. `hidesUsage`: the caller did not ask for the event that only tells the usage. */
export function passedReply({ api }: PassThroughRequest, hidesUsage: boolean): ReplyDialect<PassedFrame> {
  const traits: PassThroughTraits = passThrough[api];
  return {
    readEvents: (headers) => new PassedEvents(traits, typeOf(headers), hidesUsage),
    readPieces(headers) {
      const contentType = typeOf(headers);
      if (traits.raw?.test(contentType) !== true) return undefined;
      const isText = contentType.startsWith('text/');
      return (bytes) => ({ bytes, kind: 'raw', contentType, chars: isText ? bytes.length : 0 });
    },
    readWhole: (bytes) => toJsonFrame(bytes, traits),
    readRefusal,
  };
}

function typeOf(headers: ReplyHeaders): string {
  return headers['content-type'] ?? '';
}

function toJsonFrame(bytes: string, { answer }: PassThroughTraits): PassedFrame {
  const reply = toJsonObject(bytes, imageBounds);
  if ((reply[answer] ?? null) === null)
    throw faultIn(reply) ?? new UpstreamFault('broken', `The upstream answered with JSON that has no ${answer}.`);
  return { bytes, kind: 'json', contentType: 'application/json; charset=utf-8', ...toldBy(reply), chars: charsIn(reply) };
}

/** The events of an answer, as they came. */
class PassedEvents implements EventReader<PassedFrame> {
  readonly #traits: PassThroughTraits;
  readonly #contentType: string;
  readonly #hidesUsage: boolean;
  #sawLast = false;
  hasEnded = false;

  constructor(traits: PassThroughTraits, contentType: string, hidesUsage: boolean) {
    this.#traits = traits;
    this.#contentType = contentType;
    this.#hidesUsage = hidesUsage;
  }

  take(events: string, reply: Pick<Sink<PassedFrame>, 'frame'>): void {
    for (let at = 0; at < events.length && !this.hasEnded; ) {
      const event = eventAt(events, at);
      at += event.length;
      this.#takeEvent(event, reply);
    }
  }

  /** Where no end mark follows the last event, the end of the connection does. */
  isEndMark(event: string): boolean {
    return this.#sawLast || this.#isLast(event);
  }

  #takeEvent(event: string, reply: Pick<Sink<PassedFrame>, 'frame'>): void {
    const named = faultOfNamed(event);
    if (named !== undefined) throw named;
    const data = dataOf(event);
    if (data === endMark || (data === '' && this.#sawLast)) this.hasEnded = true;
    if (event.trim() === '') return;
    const value = data === '' || data === endMark ? {} : toValue(data);
    if (this.#isLastValue(value)) this.#sawLast = true;
    const bytes = this.#hidesUsage && isUsageOnly(value) ? '' : event;
    reply.frame({ bytes, kind: 'events', contentType: this.#contentType, ...toldBy(value), chars: charsIn(value) });
  }

  #isLast(event: string): boolean {
    const data = dataOf(event);
    if (data === endMark) return true;
    const value = tryParseJson(fromLatin1(data));
    return isJsonObject(value) && this.#isLastValue(value);
  }

  #isLastValue({ type }: JsonObject): boolean {
    return this.#traits.lastEvent !== undefined && type === this.#traits.lastEvent;
  }
}

function dataOf(event: string): string {
  return eventData(event)[0]?.trim() ?? '';
}

function toValue(data: string): JsonObject {
  const value = tryParseJson(fromLatin1(data), imageBounds);
  if (!isJsonObject(value)) throw new UpstreamFault('broken', 'The upstream sent an event that is not a JSON object.');
  const fault = faultIn(value);
  if (fault !== undefined) throw fault;
  return value;
}

function toldBy({ usage, meta }: JsonObject): Pick<PassedFrame, 'usage'> {
  if (isJsonObject(usage)) return { usage };
  const told = isJsonObject(meta) ? meta.tokens : undefined;
  return isJsonObject(told) ? { usage: told } : {};
}

function isUsageOnly({ choices, usage }: JsonObject): boolean {
  return Array.isArray(choices) && choices.length === 0 && isJsonObject(usage);
}

/** Chars of text: of a completion, a transcript, or a piece of one. The last event of a transcript repeats what the others brought. */
function charsIn({ choices, text, delta, type }: JsonObject): number {
  let chars = lengthOf(delta);
  for (const choice of Array.isArray(choices) ? choices : []) chars += isJsonObject(choice) ? lengthOf(choice.text) : 0;
  return type === undefined ? chars + lengthOf(text) : chars;
}

function lengthOf(text: unknown): number {
  return typeof text === 'string' ? text.length : 0;
}
