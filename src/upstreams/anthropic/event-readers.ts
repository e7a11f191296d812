import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { getEventAt, listEventData } from '#base/stream/event-splitter.ts';
import { fromLatin1, toLatin1 } from '#base/text/bytes.ts';
import { findStringEnd } from '#base/text/string-end.ts';
import type { Chunk } from '#contract/chat/chunk.ts';
import { Frame, type RawFrame } from '#contract/chat/frame.ts';
import type { BlockDelta, MessagesUsage, Relayed } from '#contract/messages/dialect.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { createEndError, findError, findNamedError, isFailedReason } from '../find-error.ts';
import type { EventReader, FrameSink } from '../upstream-reply.ts';
import { type MessageReader, mergeCounts, toUsage } from './message-reader.ts';

const space = 32;
const textKeys: ReadonlyMap<unknown, string> = new Map<BlockDelta['type'], string>([
  ['text_delta', '"text":"'],
  ['thinking_delta', '"thinking":"'],
  ['input_json_delta', '"partial_json":"'],
]);

/**
 * Finds the deltas of one block of a stream without parsing them. The deltas differ only in their text, so the bytes before the
 * text are learned once and compared. Some upstreams add spaces after the text to hide its length.
 */
export class DeltaRun {
  #prefix = '';
  /** Bytes of text in the last run. */
  textBytes = 0;

  /**
   * Returns the end of the run of known deltas that begins at `from`, or `from` if no run begins there. Adds the texts of the
   * deltas to `texts`, as the bytes of JSON strings without their quotes.
   */
  findRunEnd(events: string, from: number, texts?: string[]): number {
    this.textBytes = 0;
    const prefix = this.#prefix;
    if (prefix === '') return from;
    let position = from;
    while (events.slice(position, position + prefix.length) === prefix) {
      const start = position + prefix.length;
      const end = findClosing(events, start);
      const after = findEventEnd(events, end);
      if (after === -1) break;
      texts?.push(events.slice(start, end));
      this.textBytes += end - start;
      position = after;
    }
    return position;
  }

  /**
   * Uses an event, which must be a delta of this type, as the pattern of later events. Returns whether the event has the
   * required form.
   */
  learnPrefix(event: string, type: unknown): boolean {
    const key = textKeys.get(type);
    const keyStart = key === undefined ? -1 : event.indexOf(key);
    if (key === undefined || keyStart === -1) return false;
    const start = keyStart + key.length;
    if (findEventEnd(event, findClosing(event, start)) !== event.length) return false;
    // A slice would retain the entire string that was read from the connection.
    this.#prefix = Buffer.from(event.slice(0, start), 'latin1').toString('latin1');
    return true;
  }
}

/** Returns the end of the JSON string that contains `start`, or -1. A JSON string never has a line feed. */
function findClosing(text: string, start: number): number {
  const position = findStringEnd(text, start);
  return position === text.length || text.indexOf('\n', start) < position ? -1 : position;
}

/** Returns the end of the event whose text ends at `textEnd`. Returns -1 if the event has more fields after the text. */
function findEventEnd(text: string, textEnd: number): number {
  if (textEnd === -1 || text.slice(textEnd, textEnd + 2) !== '"}') return -1;
  let position = textEnd + 2;
  while (text.charCodeAt(position) === space) position += 1;
  return text.slice(position, position + 3) === '}\n\n' ? position + 3 : -1;
}

/**
 * Returns the value of an event, or the error that the event reports. An invalid event is an error. Returns undefined for an event
 * without data.
 */
function toEventValue(event: string): JsonObject | UpstreamError | undefined {
  const namedError = findNamedError(event);
  if (namedError !== undefined) return namedError;
  const [data] = listEventData(event);
  if (data === undefined || data.trim() === '') return undefined;
  const value = tryParseJson(fromLatin1(data));
  if (!isJsonObject(value)) return new UpstreamError('broken', 'The upstream sent an event that is not a JSON object.');
  return findError(value) ?? (isJsonObject(value.delta) ? toEndError(value.delta) : undefined) ?? value;
}

/** Returns the error of a message that the upstream could not finish. */
export function toEndError({ stop_reason: reason }: JsonObject): UpstreamError | undefined {
  return isFailedReason(reason) ? createEndError(reason) : undefined;
}

/** Returns whether an event ends a reply. */
function isMessageStop(event: string): boolean {
  const value = toEventValue(event);
  return isJsonObject(value) && value.type === 'message_stop';
}

/** Bytes before and after each text of a run in a chat completions event. */
interface Template {
  readonly block: unknown;
  readonly before: string;
  readonly after: string;
}

const noTemplate: Template = { block: undefined, before: '', after: '' };

/**
 * Translates events to chat completions frames. A run of deltas is written without being parsed, because a JSON string is the
 * same in both dialects. The role is held back until a later event, so that an immediate error is the first item.
 */
export class TranslatedEvents implements EventReader {
  readonly isEndMark = isMessageStop;
  readonly #reader: MessageReader;
  readonly #run = new DeltaRun();
  #template = noTemplate;
  #chunks: Chunk[] = [];
  #isOpening = true;

  constructor(reader: MessageReader) {
    this.#reader = reader;
  }

  get hasEnded(): boolean {
    return this.#reader.hasEnded;
  }

  readEvents(events: string, reply: FrameSink): void {
    for (let position = 0; position < events.length && !this.hasEnded; ) {
      const texts: string[] = [];
      const end = this.#run.findRunEnd(events, position, texts);
      if (end > position) {
        this.#flush(reply);
        reply.push(this.#createFrame(texts));
        position = end;
        continue;
      }
      const event = getEventAt(events, position);
      position += event.length;
      const value = toEventValue(event);
      if (value instanceof UpstreamError) {
        this.#flush(reply);
        throw value;
      }
      if (value !== undefined) this.#readEvent(event, value);
    }
    this.#flush(reply);
  }

  #readEvent(event: string, value: JsonObject): void {
    this.#chunks.push(...this.#reader.readEvent(value));
    if (value.type !== 'message_start' && value.type !== 'ping') this.#isOpening = false;
    if (value.type === 'content_block_delta') this.#learnTemplate(event, value);
  }

  #flush(reply: FrameSink): void {
    if (this.#isOpening || this.#chunks.length === 0) return;
    const chunks = this.#chunks;
    this.#chunks = [];
    reply.push(Frame.ofChunks(...chunks));
  }

  #createFrame(texts: readonly string[]): RawFrame {
    const { block, before, after } = this.#template;
    if (this.#run.textBytes > 0) this.#reader.recordPassed(block, () => decodeText(texts.join('')));
    let bytes = '';
    for (const text of texts) bytes += before + text + after;
    return Frame.ofText(bytes, this.#run.textBytes);
  }

  #learnTemplate(event: string, { index, delta }: JsonObject): void {
    const type = isJsonObject(delta) ? delta.type : undefined;
    const template = this.#getTemplate(type, index);
    if (template === undefined || !this.#run.learnPrefix(event, type)) return;
    const head = toLatin1(JSON.stringify(this.#reader.head)).slice(0, -1);
    this.#template = {
      block: index,
      before: `data: ${head},"choices":[{"index":0,"delta":{${template[0]}"`,
      after: `"${template[1]}},"finish_reason":null}]}\n\n`,
    };
  }

  /** Returns the JSON around the text in a chat completions delta. */
  #getTemplate(type: unknown, index: unknown): readonly [before: string, after: string] | undefined {
    if (type === 'text_delta') return ['"content":', ''];
    if (type === 'thinking_delta') return ['"reasoning_content":', ''];
    const call = this.#reader.getCallIndex(index);
    return call === undefined ? undefined : [`"tool_calls":[{"index":${call},"function":{"arguments":`, '}}]'];
  }
}

/** Returns the text of a JSON string without quotes. `json` is latin1. */
function decodeText(json: string): string {
  return String(tryParseJson(`"${fromLatin1(json)}"`) ?? '');
}

/** Maximum bytes that are held back before the first content event. */
const maxBufferedBytes = 1024 * 1024;

/**
 * Relays events unchanged, one frame for each read, to a client of the dialect. Deltas pass without being parsed. Token counts are
 * read from the other events. Events before the first content event are held back, so that another upstream can be tried if an error
 * follows immediately.
 */
export class RelayedEvents implements EventReader {
  readonly isEndMark = isMessageStop;
  readonly #run = new DeltaRun();
  #usage: Partial<MessagesUsage> | undefined;
  #buffered = '';
  #isOpening = true;
  #isUsageReported = true;
  hasEnded = false;
  /** Headers of the reply. They are sent with the first frame. */
  #headers: Relayed['headers'];

  constructor(headers?: Relayed['headers']) {
    this.#headers = headers;
  }

  readEvents(events: string, reply: FrameSink): void {
    let textBytes = 0;
    let position = 0;
    while (position < events.length && !this.hasEnded) {
      const end = this.#run.findRunEnd(events, position);
      if (end > position) {
        textBytes += this.#run.textBytes;
        position = end;
        continue;
      }
      const event = getEventAt(events, position);
      const value = toEventValue(event);
      if (value instanceof UpstreamError) {
        this.#forward(events.slice(0, position), textBytes, reply);
        throw value;
      }
      if (value !== undefined) this.#recordEvent(event, value);
      position += event.length;
    }
    this.#forward(position === events.length ? events : events.slice(0, position), textBytes, reply);
  }

  #recordEvent(event: string, value: JsonObject): void {
    const { type, delta } = value;
    if (type !== 'message_start' && type !== 'ping') this.#isOpening = false;
    if (type === 'content_block_delta' && isJsonObject(delta)) this.#run.learnPrefix(event, delta.type);
    if (type === 'message_stop') this.hasEnded = true;
    const usage = type === 'message_start' && isJsonObject(value.message) ? value.message.usage : value.usage;
    if (!isJsonObject(usage)) return;
    this.#usage = mergeCounts(this.#usage ?? {}, usage);
    this.#isUsageReported = false;
  }

  #forward(events: string, textBytes: number, reply: FrameSink): void {
    const bytes = this.#buffered + events;
    this.#buffered = this.#isOpening ? bytes : '';
    if (this.#buffered.length > maxBufferedBytes)
      throw new UpstreamError('broken', `The upstream sent more than ${maxBufferedBytes} bytes of events without content.`);
    if (this.#isOpening || bytes === '') return;
    const usage = this.#isUsageReported || this.#usage === undefined ? undefined : toUsage(this.#usage);
    this.#isUsageReported = true;
    const relayed: Relayed = {
      dialect: 'messages',
      isCompleteReply: false,
      isLast: this.hasEnded,
      textBytes,
      usage,
      ...(this.#headers && { headers: this.#headers }),
    };
    this.#headers = undefined;
    reply.push(Frame.ofNative(bytes, relayed));
  }
}
