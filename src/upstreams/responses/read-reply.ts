import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { getEventAt } from '#base/stream/event-splitter.ts';
import type { Sink } from '#base/stream/sink.ts';
import { toLatin1 } from '#base/text/bytes.ts';
import { findStringEnd } from '#base/text/string-end.ts';
import type { RawCompletion } from '#contract/chat/chunk.ts';
import { Frame, type RawFrame } from '#contract/chat/frame.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { toJsonObject } from '../reply-text.ts';
import type { EventReader, ReplyDialect } from '../upstream-reply.ts';
import { isEnd, isEndMark, isOpening, toCall, toEventValue, toFailedError, toLogprobs, toUsage } from './reply-values.ts';
import { ResponseReader, toFinishReason } from './response-reader.ts';

/** How a refusal of OpenAI's APIs is read. */
export type ReadErrorReply = ReplyDialect['readErrorReply'];

/** A reply as frames of the compat wire. */
export function translatedReply(
  readErrorReply: ReadErrorReply,
  { createdSeconds, model }: { createdSeconds: number; model: string },
): ReplyDialect {
  return {
    readEvents: () => new TranslatedEvents(new ResponseReader(createdSeconds, model)),
    readComplete(bytes) {
      const completion = toCompletion(toResponse(bytes), createdSeconds);
      return Frame.ofRawCompletion(completion, toLatin1(JSON.stringify(completion)));
    },
    readErrorReply,
  };
}

/** The same as it came, for a caller who speaks the dialect. */
export const relayedReply = (readErrorReply: ReadErrorReply): ReplyDialect => ({
  readEvents: () => new RelayedEvents(),
  readComplete(bytes) {
    const usage = toUsage(toResponse(bytes).usage);
    return Frame.ofNative(bytes, { dialect: 'responses', isWhole: true, isLast: true, textBytes: bytes.length, usage });
  },
  readErrorReply,
});

class TranslatedEvents implements EventReader {
  readonly isEndMark = isEndMark;
  readonly #reader: ResponseReader;

  constructor(reader: ResponseReader) {
    this.#reader = reader;
  }

  get hasEnded(): boolean {
    return this.#reader.hasEnded;
  }

  read(events: string, reply: Pick<Sink<RawFrame>, 'frame'>): void {
    for (let position = 0; position < events.length && !this.hasEnded; ) {
      const event = getEventAt(events, position);
      position += event.length;
      const value = toEventValue(event);
      if (value instanceof UpstreamError) throw value;
      const chunks = value === undefined ? [] : this.#reader.read(value);
      if (chunks.length > 0) reply.frame(Frame.ofChunks(...chunks));
    }
  }
}

function toResponse(bytes: string): JsonObject {
  const value = toJsonObject(bytes);
  if (value.status === 'failed') throw toFailedError(value);
  if (Array.isArray(value.output)) return value;
  throw new UpstreamError('broken', 'The upstream answered with JSON that is no response.');
}

/** Of a beginning that waits for what follows it. */
const maxBufferedBytes = 4 * 1024 * 1024;
const deltaHead =
  /^event: response\.(?:output_text|reasoning_summary_text|function_call_arguments|custom_tool_call_input)\.delta\n/;
const deltaKey = '"delta":"';
/** Of a part of the response: neither its opening, nor its end, nor a fault. */
const partHead = /^event: response\.[a-z_]+\.[a-z_]+\n/;

/**
 * Events as they came, one frame a read, for a caller who speaks the dialect. Deltas are passed without being parsed. The
 * beginning waits for what follows it, so that an error ahead of everything else comes first.
 */
class RelayedEvents implements EventReader {
  readonly isEndMark = isEndMark;
  hasEnded = false;
  readonly #deltas = new DeltaEvents();
  #buffered = '';
  #isOpening = true;
  #usage: unknown;

  read(events: string, reply: Pick<Sink<RawFrame>, 'frame'>): void {
    let textBytes = 0;
    let position = 0;
    while (position < events.length) {
      const end = this.#deltas.findEnd(events, position);
      if (end > position) {
        textBytes += this.#deltas.textBytes;
        this.#isOpening = false;
        position = end;
      } else {
        const event = getEventAt(events, position);
        if (this.#deltas.learn(event)) continue;
        const error = this.hasEnded ? undefined : this.#readEvent(event);
        if (error !== undefined) {
          this.#forward(events.slice(0, position), textBytes, reply);
          throw error;
        }
        position += event.length;
      }
    }
    this.#forward(events, textBytes, reply);
  }

  /** Gives the fault that an event means. One of a part is known by its name. */
  #readEvent(event: string): UpstreamError | undefined {
    const isPart = partHead.test(event);
    const value = isPart ? undefined : toEventValue(event);
    if (value instanceof UpstreamError) return value;
    if (isPart || (value !== undefined && !isOpening(value))) this.#isOpening = false;
    if (value === undefined || !isEnd(value)) return undefined;
    this.hasEnded = true;
    this.#usage = isJsonObject(value.response) ? value.response.usage : undefined;
    return undefined;
  }

  #forward(events: string, textBytes: number, reply: Pick<Sink<RawFrame>, 'frame'>): void {
    const bytes = this.#buffered + events;
    this.#buffered = this.#isOpening ? bytes : '';
    if (this.#buffered.length > maxBufferedBytes)
      throw new UpstreamError('broken', 'The upstream sent no response in its events.');
    if (this.#isOpening || bytes === '') return;
    const usage = this.#usage === undefined ? undefined : toUsage(this.#usage);
    this.#usage = undefined;
    reply.frame(Frame.ofNative(bytes, { dialect: 'responses', isWhole: false, isLast: this.hasEnded, textBytes, usage }));
  }
}

/** Knows the events of one stream that bring a piece of one text, by the line with the name that the last one had. */
class DeltaEvents {
  #head = '';
  /** How far behind its name the text of the last one began: mostly as far as that of the next one will. */
  #textAt = 0;
  /** Bytes of text in the event found last. */
  textBytes = 0;

  /** Where such an event that begins here ends; `from` itself if none begins. */
  findEnd(events: string, from: number): number {
    const dataFrom = from + this.#head.length;
    if (this.#head === '' || events.slice(from, dataFrom) !== this.#head) return from;
    let start = dataFrom + this.#textAt;
    if (events.slice(start - deltaKey.length, start) !== deltaKey) {
      const key = events.indexOf(deltaKey, dataFrom);
      if (key === -1 || events.slice(dataFrom, key).includes('\n\n')) return from;
      start = key + deltaKey.length;
      this.#textAt = start - dataFrom;
    }
    const dataEnd = events.indexOf('\n\n', start);
    this.textBytes = Math.max(1, Math.min(findStringEnd(events, start), dataEnd) - start);
    return dataEnd + 2;
  }

  /** Takes the name of an event, if it is one of a delta, as that of those to come; returns whether it was another one before. */
  learn(event: string): boolean {
    const [head] = deltaHead.exec(event) ?? [];
    if (head === undefined || head === this.#head) return false;
    // A slice would keep the whole read it was cut from.
    this.#head = Buffer.from(head, 'latin1').toString('latin1');
    return true;
  }
}

/** A whole response as a completion of the compat wire. */
function toCompletion(response: JsonObject, createdSeconds: number): RawCompletion {
  const output = Array.isArray(response.output) ? response.output.filter(isJsonObject) : [];
  const parts = output
    .flatMap(({ type, content }) => (type === 'message' && Array.isArray(content) ? content : []))
    .filter(isJsonObject);
  const calls = output.filter(({ type }) => type === 'function_call' || type === 'custom_tool_call').map(toCall);
  const thoughts = output.flatMap(({ type, summary }) => (type === 'reasoning' && Array.isArray(summary) ? summary : []));
  const refusal = joinText(parts, 'refusal', 'refusal');
  const reasoning = joinText(thoughts.filter(isJsonObject), 'summary_text', 'text', '\n\n');
  const annotations = parts.flatMap(toAnnotations);
  const message = {
    role: 'assistant',
    content: joinText(parts, 'output_text', 'text') || (calls.length > 0 || refusal !== '' ? null : ''),
    ...(refusal !== '' && { refusal }),
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(annotations.length > 0 && { annotations }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const { id, model, created_at: created = createdSeconds } = response;
  const usage = toUsage(response.usage);
  return {
    id,
    object: 'chat.completion',
    created: typeof created === 'number' ? Math.floor(created) : createdSeconds,
    model,
    choices: [{ index: 0, message, finish_reason: toFinishReason(response, calls.length > 0), ...toLogprobs(parts) }],
    ...(usage && { usage }),
  };
}

function toAnnotations({ annotations }: JsonObject): JsonObject[] {
  const listed = Array.isArray(annotations) ? annotations.filter(isJsonObject) : [];
  return listed.filter(({ type }) => type === 'url_citation').map(({ type, ...url_citation }) => ({ type, url_citation }));
}

function joinText(parts: readonly JsonObject[], type: string, key: string, separator = ''): string {
  return parts
    .filter((part) => part.type === type)
    .map((part) => String(part[key] ?? ''))
    .join(separator);
}
