import type { ReplyHeaders } from '#base/http/client.ts';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { getEventAt } from '#base/stream/event-splitter.ts';
import type { Sink } from '#base/stream/sink.ts';
import { fromLatin1, toLatin1 } from '#base/text/bytes.ts';
import type { Chunk, Completion } from '#contract/chat/chunk.ts';
import { Accumulator } from '#contract/chat/fold-frames.ts';
import { Frame, type RawFrame } from '#contract/chat/frame.ts';
import type { MessagesUsage, Relayed } from '#contract/messages/dialect.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { toCount } from '#domain/usage/usage.ts';
import { findError, getPlainText, getRetryAfter, isNotFromModelApi, toErrorDetails, toJsonObject } from '../find-error.ts';
import type { ErrorReply, EventReader, ReplyDialect } from '../upstream-reply.ts';
import { DeltaRun, isMessageStop, toEndError, toEventValue } from './delta-run.ts';
import { MessageReader, mergeCounts, toUsage } from './message-reader.ts';

/** Status of the dialect for an overloaded upstream. */
const overloadedStatus = 529;
const unavailableStatus = 503;

/** Returns the error for a reply with a status other than 200. An overloaded upstream counts as unavailable. */
function readErrorReply(reply: ErrorReply): UpstreamError {
  const parsed = tryParseJson(fromLatin1(reply.bytes));
  // Google wraps an error in a list if a stream was requested.
  const { message, code, displayMessage } = toErrorDetails(Array.isArray(parsed) ? parsed[0] : parsed);
  const status = reply.status === overloadedStatus ? unavailableStatus : reply.status;
  const retryAfterSeconds = getRetryAfter(reply.headers);
  const text = message ?? getPlainText(reply.headers, reply.bytes) ?? `The upstream answered ${reply.status}.`;
  return new UpstreamError('refused', text, {
    ...{ code, displayMessage, status, isNotFromModelApi: isNotFromModelApi(message, code) },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

const limitName = /^anthropic-(?:ratelimit|priority)-[a-z0-9-]{1,64}$/;
const limitValue = /^[\x20-\x7e]{1,200}$/;
const requestId = /^[\w.-]{1,128}$/;

/** Creates the reader of replies that are translated to chat completions frames. */
export function translatedReply(createdSeconds: number, model: string): ReplyDialect {
  return {
    readEvents: () => new TranslatedEvents(new MessageReader(createdSeconds, model)),
    readComplete: (bytes) => Frame.ofCompletion(toCompletion(toMessage(bytes), createdSeconds, model)),
    readErrorReply,
  };
}

/** Reader of replies that are relayed unchanged to a client of the dialect. */
export const relayedReply: ReplyDialect = {
  readEvents: (headers) => new RelayedEvents(toCallerHeaders(headers)),
  readComplete(bytes, headers) {
    const { usage: counts } = toMessage(bytes);
    const usage = isJsonObject(counts) ? toUsage(counts) : undefined;
    const relayed: Relayed = {
      ...{ dialect: 'messages', isWhole: true, isLast: true, textBytes: bytes.length, usage },
      headers: toCallerHeaders(headers),
    };
    return Frame.ofNative(bytes, relayed);
  },
  readErrorReply,
};

/** Reader of replies that contain only the token count of a request. */
export const countReply: ReplyDialect<number> = {
  readComplete(bytes) {
    const { input_tokens: tokens } = toJsonObject(bytes);
    if (typeof tokens === 'number') return toCount(tokens);
    throw new UpstreamError('broken', 'The upstream answered with JSON that is not a token count.');
  },
  readErrorReply,
};

function toMessage(bytes: string): JsonObject {
  const value = toJsonObject(bytes);
  const error = findError(value) ?? toEndError(value);
  if (error !== undefined) throw error;
  if (Array.isArray(value.content)) return value;
  throw new UpstreamError('broken', 'The upstream answered with JSON that is not a message.');
}

/** Returns the headers for the client: the remaining limits of the upstream, and its request ID. */
function toCallerHeaders(headers: ReplyHeaders): Record<string, string> {
  const { 'request-id': id } = headers;
  const limits = Object.entries(headers).filter(([name, value]) => limitName.test(name) && limitValue.test(value));
  return { ...Object.fromEntries(limits), ...(id !== undefined && requestId.test(id) && { 'request-id': id }) };
}

/** Maximum bytes that are held back before the first content event. */
const maxBufferedBytes = 1024 * 1024;

/**
 * Relays events unchanged, one frame for each read, to a client of the dialect. Deltas pass without being parsed. The counts of
 * other events are recorded. Events before the first content event are held back, so that another upstream can be tried if an error
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

  readEvents(events: string, reply: Pick<Sink<RawFrame>, 'frame'>): void {
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

  #forward(events: string, textBytes: number, reply: Pick<Sink<RawFrame>, 'frame'>): void {
    const bytes = this.#buffered + events;
    this.#buffered = this.#isOpening ? bytes : '';
    if (this.#buffered.length > maxBufferedBytes)
      throw new UpstreamError('broken', 'The upstream sent no message in its events.');
    if (this.#isOpening || bytes === '') return;
    const usage = this.#isUsageReported || this.#usage === undefined ? undefined : toUsage(this.#usage);
    this.#isUsageReported = true;
    const relayed: Relayed = {
      dialect: 'messages',
      isWhole: false,
      isLast: this.hasEnded,
      textBytes,
      usage,
      ...(this.#headers && { headers: this.#headers }),
    };
    this.#headers = undefined;
    reply.frame(Frame.ofNative(bytes, relayed));
  }
}

/**
 * Returns a complete reply of the dialect as a completion, equal to the sum of its stream. Throws `UpstreamError` if the reply
 * is not a message.
 */
function toCompletion(reply: JsonObject, createdSeconds: number, model: string): Completion {
  const { content, stop_reason, stop_details, usage } = reply;
  if (!Array.isArray(content) || !content.every(isJsonObject))
    throw new UpstreamError('broken', 'The upstream answered with JSON that is not a message.');
  const reader = new MessageReader(createdSeconds, model);
  const folded = new Accumulator();
  const feed = (event: JsonObject): void => {
    for (const chunk of reader.readEvent(event)) folded.add(chunk);
  };
  feed({ type: 'message_start', message: reply });
  content.forEach((block: JsonObject, index) => {
    feed({ type: 'content_block_start', index, content_block: block });
    for (const citation of Array.isArray(block.citations) ? block.citations : [])
      feed({ type: 'content_block_delta', index, delta: { type: 'citations_delta', citation } });
    feed({ type: 'content_block_stop', index });
  });
  feed({ type: 'message_delta', delta: { stop_reason, stop_details }, usage });
  feed({ type: 'message_stop' });
  return folded.completion();
}

type Reply = Pick<Sink<RawFrame>, 'frame'>;

/** Bytes before and after each text of a run in a chat completions event. */
interface Slot {
  readonly block: unknown;
  readonly before: string;
  readonly after: string;
}

const noSlot: Slot = { block: undefined, before: '', after: '' };

/**
 * Translates events to chat completions frames. A run of deltas is written without being parsed, because a JSON string is the
 * same in both dialects. The role is held back until a later event, so that an immediate error is the first item.
 */
export class TranslatedEvents implements EventReader {
  readonly isEndMark = isMessageStop;
  readonly #reader: MessageReader;
  readonly #run = new DeltaRun();
  #slot = noSlot;
  #chunks: Chunk[] = [];
  #isOpening = true;

  constructor(reader: MessageReader) {
    this.#reader = reader;
  }

  get hasEnded(): boolean {
    return this.#reader.hasEnded;
  }

  readEvents(events: string, reply: Reply): void {
    for (let position = 0; position < events.length && !this.hasEnded; ) {
      const texts: string[] = [];
      const end = this.#run.findRunEnd(events, position, texts);
      if (end > position) {
        this.#flush(reply);
        reply.frame(this.#createFrame(texts));
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

  #flush(reply: Reply): void {
    if (this.#isOpening || this.#chunks.length === 0) return;
    const chunks = this.#chunks;
    this.#chunks = [];
    reply.frame(Frame.ofChunks(...chunks));
  }

  #createFrame(texts: readonly string[]): RawFrame {
    const { block, before, after } = this.#slot;
    if (this.#run.textBytes > 0) this.#reader.recordPassed(block, () => toText(texts.join('')));
    let bytes = '';
    for (const text of texts) bytes += before + text + after;
    return Frame.ofText(bytes, this.#run.textBytes);
  }

  #learnTemplate(event: string, { index, delta }: JsonObject): void {
    const type = isJsonObject(delta) ? delta.type : undefined;
    const template = this.#getTemplate(type, index);
    if (template === undefined || !this.#run.learnPrefix(event, type)) return;
    const head = toLatin1(JSON.stringify(this.#reader.head)).slice(0, -1);
    this.#slot = {
      block: index,
      before: `data: ${head},"choices":[{"index":0,"delta":{${template[0]}"`,
      after: `"${template[1]}},"finish_reason":null}]}\n\n`,
    };
  }

  /** Returns the JSON around the text in a compat delta. */
  #getTemplate(type: unknown, index: unknown): readonly [before: string, after: string] | undefined {
    if (type === 'text_delta') return ['"content":', ''];
    if (type === 'thinking_delta') return ['"reasoning_content":', ''];
    const call = this.#reader.getCallIndex(index);
    return call === undefined ? undefined : [`"tool_calls":[{"index":${call},"function":{"arguments":`, '}}]'];
  }
}

function toText(json: string): string {
  return String(tryParseJson(`"${fromLatin1(json)}"`) ?? '');
}
