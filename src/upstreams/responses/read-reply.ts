import { filterObjects, isJsonObject, type JsonObject, toText } from '#base/json/json.ts';
import { getEventAt } from '#base/stream/event-splitter.ts';
import { toLatin1 } from '#base/text/bytes.ts';
import { findStringEnd } from '#base/text/string-end.ts';
import type { RawCompletion } from '#contract/chat/chunk.ts';
import { Frame } from '#contract/chat/frame.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { parseReply } from '../find-error.ts';
import type { EventReader, FrameSink, ReplyDialect } from '../upstream-reply.ts';
import {
  isEnd,
  isEndMark,
  isOpening,
  ResponseReader,
  toCall,
  toEventValue,
  toFailedError,
  toFinishReason,
  toLogprobs,
  toUsage,
} from './response-reader.ts';

/** Reader of error replies of OpenAI's APIs. */
export type ReadErrorReply = ReplyDialect['readErrorReply'];

/** Creates the reader of replies that are translated to chat completions frames. */
export function createTranslatedDialect(
  readErrorReply: ReadErrorReply,
  { createdSeconds, model }: { createdSeconds: number; model: string },
): ReplyDialect {
  return {
    createEventReader: () => new TranslatedEvents(new ResponseReader(createdSeconds, model)),
    readComplete(bytes) {
      const completion = toCompletion(toResponse(bytes), createdSeconds);
      return Frame.ofRawCompletion(completion, toLatin1(JSON.stringify(completion)));
    },
    readErrorReply,
  };
}

/** Creates the reader of replies that are relayed unchanged to a client of the dialect. */
export const createRelayedDialect = (readErrorReply: ReadErrorReply): ReplyDialect => ({
  createEventReader: () => new RelayedEvents(),
  readComplete(bytes) {
    const usage = toUsage(toResponse(bytes).usage);
    return Frame.ofNative(bytes, { dialect: 'responses', isCompleteReply: true, isLast: true, textBytes: bytes.length, usage });
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

  readEvents(events: string, reply: FrameSink): void {
    for (let position = 0; position < events.length && !this.hasEnded; ) {
      const event = getEventAt(events, position);
      position += event.length;
      const value = toEventValue(event);
      if (value instanceof UpstreamError) throw value;
      const chunks = value === undefined ? [] : this.#reader.readEvent(value);
      if (chunks.length > 0) reply.push(Frame.ofChunks(...chunks));
    }
  }
}

function toResponse(bytes: string): JsonObject {
  const value = parseReply(bytes);
  if (value.status === 'failed') throw toFailedError(value);
  if (Array.isArray(value.output)) return value;
  throw new UpstreamError('broken', 'The upstream answered with JSON that is not a response.');
}

/** Maximum bytes that are held back before the first content event. */
const maxBufferedBytes = 4 * 1024 * 1024;
const deltaHead =
  /^event: response\.(?:output_text|reasoning_summary_text|function_call_arguments|custom_tool_call_input)\.delta\n/;
const deltaKey = '"delta":"';
/** Matches events about a part of the response, which are never its start, its end, or an error. */
const partHead = /^event: response\.[a-z_]+\.[a-z_]+\n/;

/**
 * Relays events unchanged, one frame for each read, to a client of the dialect. Deltas pass without being parsed. The start is
 * held back until a later event, so that an immediate error is the first item.
 */
class RelayedEvents implements EventReader {
  readonly isEndMark = isEndMark;
  hasEnded = false;
  readonly #deltas = new DeltaEvents();
  #buffered = '';
  #isOpening = true;
  #usage: unknown;

  readEvents(events: string, reply: FrameSink): void {
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

  /** Returns the error that an event reports. An event about a part is recognized by its name and not parsed. */
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

  #forward(events: string, textBytes: number, reply: FrameSink): void {
    const bytes = this.#buffered + events;
    this.#buffered = this.#isOpening ? bytes : '';
    if (this.#buffered.length > maxBufferedBytes)
      throw new UpstreamError('broken', 'The upstream sent no response in its events.');
    if (this.#isOpening || bytes === '') return;
    const usage = this.#usage === undefined ? undefined : toUsage(this.#usage);
    this.#usage = undefined;
    reply.push(Frame.ofNative(bytes, { dialect: 'responses', isCompleteReply: false, isLast: this.hasEnded, textBytes, usage }));
  }
}

/** Finds the events of one stream that contain a text delta, by the name line of the last such event. */
class DeltaEvents {
  #head = '';
  /** Distance from the name line to the text in the last event, which is usually the same in the next event. */
  #textOffset = 0;
  /** Bytes of text in the last event. */
  textBytes = 0;

  /** Returns the end of such an event that begins at `from`, or `from` if none begins there. */
  findEnd(events: string, from: number): number {
    const dataFrom = from + this.#head.length;
    if (this.#head === '' || events.slice(from, dataFrom) !== this.#head) return from;
    let start = dataFrom + this.#textOffset;
    if (events.slice(start - deltaKey.length, start) !== deltaKey) {
      const key = events.indexOf(deltaKey, dataFrom);
      if (key === -1 || events.slice(dataFrom, key).includes('\n\n')) return from;
      start = key + deltaKey.length;
      this.#textOffset = start - dataFrom;
    }
    const dataEnd = events.indexOf('\n\n', start);
    this.textBytes = Math.max(1, Math.min(findStringEnd(events, start), dataEnd) - start);
    return dataEnd + 2;
  }

  /** Uses the name line of an event as the pattern of later events if it is a delta. Returns whether the pattern changed. */
  learn(event: string): boolean {
    const [head] = deltaHead.exec(event) ?? [];
    if (head === undefined || head === this.#head) return false;
    // A slice would retain the entire string that was read from the connection.
    this.#head = Buffer.from(head, 'latin1').toString('latin1');
    return true;
  }
}

/** Converts a complete response to a chat completion. */
function toCompletion(response: JsonObject, createdSeconds: number): RawCompletion {
  const output = filterObjects(response.output);
  const parts = output.flatMap(({ type, content }) => (type === 'message' ? filterObjects(content) : []));
  const calls = output.filter(({ type }) => type === 'function_call' || type === 'custom_tool_call').map(toCall);
  const thoughts = output.flatMap(({ type, summary }) => (type === 'reasoning' ? filterObjects(summary) : []));
  const refusal = joinText(parts, 'refusal', 'refusal');
  const reasoning = joinText(thoughts, 'summary_text', 'text', '\n\n');
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
  return filterObjects(annotations)
    .filter(({ type }) => type === 'url_citation')
    .map(({ type, ...url_citation }) => ({ type, url_citation }));
}

function joinText(parts: readonly JsonObject[], type: string, key: string, separator = ''): string {
  return parts
    .filter((part) => part.type === type)
    .map(({ [key]: text }) => toText(text))
    .join(separator);
}
