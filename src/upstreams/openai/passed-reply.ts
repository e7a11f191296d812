import type { ReplyHeaders } from '#base/http/client.ts';
import { defaultJsonBounds, isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { getEventAt, listEventData } from '#base/stream/event-splitter.ts';
import { fromLatin1 } from '#base/text/bytes.ts';
import { type PassThroughTraits, passThroughTraits } from '#contract/pass-through.ts';
import { type PassThroughFrame, type PassThroughRequest, UpstreamError } from '#domain/upstreams/upstream.ts';
import { getLength } from '#domain/usage/usage.ts';
import { findError, findNamedError, parseEventData, parseReply } from '../find-error.ts';
import type { EventReader, FrameSink, ReplyDialect } from '../upstream-reply.ts';
import { endMark, readErrorReply } from './read-reply.ts';

/** Images arrive as base64, in few but long values. */
const imageBounds = { ...defaultJsonBounds, maxParsedChars: Number.POSITIVE_INFINITY };

/**
 * Creates the reader of replies to pass-through requests: JSON, events, or the media types of the API. Set
 * `hidesUsage` if the client did not request the event that has only usage.
 */
export function createPassThroughDialect({ api }: PassThroughRequest, hidesUsage: boolean): ReplyDialect<PassThroughFrame> {
  const traits: PassThroughTraits = passThroughTraits[api];
  return {
    createEventReader: (headers) => new PassedEvents(traits, getContentType(headers), hidesUsage),
    createByteReader(headers) {
      const contentType = getContentType(headers);
      if (traits.rawTypes?.test(contentType) !== true) return undefined;
      const isText = contentType.startsWith('text/');
      return (bytes) => ({ bytes, kind: 'raw', contentType, chars: isText ? bytes.length : 0 });
    },
    readComplete: (bytes) => toJsonFrame(bytes, traits),
    readErrorReply,
  };
}

function getContentType(headers: ReplyHeaders): string {
  return headers['content-type'] ?? '';
}

function toJsonFrame(bytes: string, { answerField: answer }: PassThroughTraits): PassThroughFrame {
  const reply = parseReply(bytes, imageBounds);
  if ((reply[answer] ?? null) === null)
    throw findError(reply) ?? new UpstreamError('broken', `The upstream answered with JSON that has no ${answer}.`);
  return { bytes, kind: 'json', contentType: 'application/json; charset=utf-8', ...getUsage(reply), chars: countChars(reply) };
}

/** Reads the events of a reply and passes them unchanged, except for a hidden usage event. */
class PassedEvents implements EventReader<PassThroughFrame> {
  readonly #traits: PassThroughTraits;
  readonly #contentType: string;
  readonly #hidesUsage: boolean;
  #hasSeenLast = false;
  hasEnded = false;

  constructor(traits: PassThroughTraits, contentType: string, hidesUsage: boolean) {
    this.#traits = traits;
    this.#contentType = contentType;
    this.#hidesUsage = hidesUsage;
  }

  readEvents(events: string, reply: FrameSink<PassThroughFrame>): void {
    for (let position = 0; position < events.length && !this.hasEnded; ) {
      const event = getEventAt(events, position);
      position += event.length;
      this.#readEvent(event, reply);
    }
  }

  /** If no end mark follows the last event, the reply ends with the connection. */
  isEndMark(event: string): boolean {
    return this.#hasSeenLast || this.#isLast(event);
  }

  #readEvent(event: string, reply: FrameSink<PassThroughFrame>): void {
    const namedError = findNamedError(event);
    if (namedError !== undefined) throw namedError;
    const data = getData(event);
    if (data === endMark || (data === '' && this.#hasSeenLast)) this.hasEnded = true;
    if (event.trim() === '') return;
    const value = data === '' || data === endMark ? {} : parseEventData(data, imageBounds);
    if (this.#isLastValue(value)) this.#hasSeenLast = true;
    const bytes = this.#hidesUsage && isUsageOnly(value) ? '' : event;
    reply.push({ bytes, kind: 'events', contentType: this.#contentType, ...getUsage(value), chars: countChars(value) });
  }

  #isLast(event: string): boolean {
    const data = getData(event);
    if (data === endMark) return true;
    const value = tryParseJson(fromLatin1(data));
    return isJsonObject(value) && this.#isLastValue(value);
  }

  #isLastValue({ type }: JsonObject): boolean {
    return this.#traits.lastEvent !== undefined && type === this.#traits.lastEvent;
  }
}

function getData(event: string): string {
  return listEventData(event)[0]?.trim() ?? '';
}

function getUsage({ usage, meta }: JsonObject): Pick<PassThroughFrame, 'usage'> {
  if (isJsonObject(usage)) return { usage };
  const tokens = isJsonObject(meta) ? meta.tokens : undefined;
  return isJsonObject(tokens) ? { usage: tokens } : {};
}

function isUsageOnly({ choices, usage }: JsonObject): boolean {
  return Array.isArray(choices) && choices.length === 0 && isJsonObject(usage);
}

/**
 * Returns the number of characters of text in a completion, a transcript, or an event of one. The last event of a transcript is
 * not counted, because it repeats the text of the earlier events.
 */
function countChars({ choices, text, delta, type }: JsonObject): number {
  let chars = getLength(delta);
  for (const choice of Array.isArray(choices) ? choices : []) chars += isJsonObject(choice) ? getLength(choice.text) : 0;
  return type === undefined ? chars + getLength(text) : chars;
}
