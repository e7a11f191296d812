import { isJsonObject, isWrittenNumber, type JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { Accumulator } from '#contract/chat/fold-frames.ts';
import type { Frame, Native, RawFrame } from '#contract/chat/frame.ts';
import type { ReplySink, Target } from '#domain/calls/call.ts';
import type { CallContent, ContentSource } from '#domain/usage/call-content.ts';
import { createTranslatedDialect as createMessagesDialect } from '#upstreams/anthropic/read-reply.ts';
import { readErrorReply } from '#upstreams/openai/read-reply.ts';
import { createTranslatedDialect as createResponsesDialect } from '#upstreams/responses/read-reply.ts';
import type { EventReader, ReplyDialect } from '#upstreams/upstream-reply.ts';

/** Functions that create a reader for relayed replies of a dialect. The reader translates them to chat completions. */
const createDialect: Readonly<Record<'messages' | 'responses', () => ReplyDialect>> = {
  messages: () => createMessagesDialect(0, ''),
  responses: () => createResponsesDialect(readErrorReply, { createdSeconds: 0, model: '' }),
};

/** Maximum bytes of events to read for each byte of text that may be recorded. Most bytes of an event are not text. */
const maxBytesPerTextByte = 64;

/** Returns whether the content of a call is recorded. */
export function recordsContent({ call, deployment, snapshot }: Target): boolean {
  if (snapshot.configuration.records.content === 'none') return false;
  return !call.record.isPrivate && deployment.features.recordsContent !== false;
}

/** Passes a reply on, and collects its content for the record of the call. An error of the collection does not fail the reply. */
export class ContentRecorder implements ReplySink, ContentSource {
  readonly #request: ChatRequest;
  readonly #reply: ReplySink;
  readonly #maxBytes: number;
  readonly #folded = new Accumulator();
  #events: EventReader | undefined;
  #bytes = 0;
  #textBytes = 0;
  #hasStarted = false;
  /** Whether the rest of the reply is not collected, because the reply is too long or malformed. */
  #isFull = false;
  #content: CallContent | undefined;

  constructor(request: ChatRequest, { snapshot }: Target, reply: ReplySink) {
    this.#request = request;
    this.#reply = reply;
    this.#maxBytes = snapshot.configuration.records.maxContentBytes;
  }

  push(frame: Frame): void {
    if (!this.#isFull) this.#fold(frame);
    this.#reply.push(frame);
  }

  end(): void {
    this.#reply.end();
  }

  fail(error: unknown): void {
    this.#reply.fail(error);
  }

  toContent(): CallContent {
    this.#content ??= this.#toContent();
    return this.#content;
  }

  #fold(frame: Frame): void {
    this.#hasStarted = true;
    try {
      if (frame.native === undefined) this.#add(frame);
      else this.#readRelayed(frame, frame.native);
      this.#bytes += frame.roughBytes;
      this.#textBytes += frame.textBytes ?? frame.native?.textBytes ?? frame.roughBytes;
      this.#isFull = this.#textBytes > this.#maxBytes || this.#bytes > this.#maxBytes * maxBytesPerTextByte;
    } catch {
      this.#isFull = true;
    }
  }

  #readRelayed({ bytes }: Frame, { dialect, isCompleteReply }: Native): void {
    if (isCompleteReply) this.#add(createDialect[dialect]().readComplete(bytes, {}));
    else {
      this.#events ??= createDialect[dialect]().createEventReader?.({});
      this.#events?.readEvents(bytes, { push: (translated) => this.#add(translated) });
    }
  }

  #add(frame: RawFrame): void {
    for (const chunk of (frame as Frame).chunks) this.#folded.add(chunk);
  }

  #toContent(): CallContent {
    const request = truncateContent(this.#request as JsonObject, this.#maxBytes);
    const reply = this.#hasStarted ? this.#toReply() : undefined;
    const isTruncated = request.isTruncated || this.#isFull || reply?.isTruncated === true;
    return { request: request.content, reply: reply?.content ?? null, isTruncated };
  }

  #toReply() {
    const { id, model, choices } = this.#folded.getCompletion();
    return truncateContent({ id, model, choices }, this.#maxBytes);
  }
}

/** Maximum number of bytes of a data URL that are recorded. */
const maxInlineBytes = 64;
/** Number of bytes that are counted for each item in addition to its key and its text. */
const itemBytes = 6;

/**
 * Returns a copy of JSON content with at most about `maxBytes`. Keeps the last items of a list, because the latest messages
 * matter most. A note replaces omitted text and omitted list items. Data URLs are truncated to their start.
 */
function truncateContent(content: JsonObject, maxBytes: number) {
  const truncation = new Truncation(maxBytes);
  return { content: truncation.copyObject(content), isTruncated: truncation.isTruncated };
}

class Truncation {
  isTruncated = false;
  readonly #maxTextBytes: number;
  #bytesLeft: number;

  /** One text takes at most half of the bytes, so that an attachment does not displace the text next to it. */
  constructor(maxBytes: number) {
    this.#bytesLeft = maxBytes;
    this.#maxTextBytes = Math.ceil(maxBytes / 2);
  }

  /** Copies plain values before lists and objects, and messages before other lists such as tools. */
  copyObject(source: JsonObject): JsonObject {
    const copy: JsonObject = {};
    const nested: string[] = [];
    for (const key in source) {
      const value = source[key];
      if (value === undefined || key === '__proto__') continue;
      if (typeof value === 'object' && value !== null && !isWrittenNumber(value)) nested.push(key);
      else if (!this.#consume(key.length)) return copy;
      else copy[key] = this.#copy(value);
    }
    if (nested.includes('messages')) nested.sort((first, second) => Number(second === 'messages') - Number(first === 'messages'));
    for (const key of nested) {
      if (!this.#consume(key.length)) break;
      copy[key] = this.#copy(source[key]);
    }
    return copy;
  }

  #copy(value: unknown): unknown {
    if (typeof value === 'string') return this.#copyText(value);
    if (Array.isArray(value)) return this.#copyList(value);
    return isJsonObject(value) && !isWrittenNumber(value) ? this.copyObject(value) : value;
  }

  #copyList(list: readonly unknown[]): unknown[] {
    const copy: unknown[] = [];
    for (let index = list.length - 1; index >= 0; index -= 1) {
      if (!this.#consume(0)) {
        copy.push(`[${index + 1} items truncated]`);
        break;
      }
      copy.push(this.#copy(list[index]));
    }
    return copy.reverse();
  }

  #copyText(text: string): string {
    const isInline = text.length > maxInlineBytes && text.startsWith('data:');
    const maxBytes = isInline ? maxInlineBytes : Math.min(this.#bytesLeft, this.#maxTextBytes);
    const isLonger = text.length > maxBytes || Buffer.byteLength(text) > maxBytes;
    const part = isLonger
      ? Buffer.from(text.slice(0, maxBytes))
          .subarray(0, maxBytes)
          .toString()
          .replace(/\ufffd$/, '')
      : text;
    this.#bytesLeft -= Buffer.byteLength(part);
    if (!isLonger) return text;
    this.isTruncated = true;
    return `${part}[${text.length - part.length} characters truncated]`;
  }

  /** Counts the bytes of an item. If no bytes remain, marks the content as truncated and returns false. */
  #consume(bytes: number): boolean {
    this.#bytesLeft -= bytes + itemBytes;
    if (this.#bytesLeft > 0) return true;
    this.#bytesLeft = 0;
    this.isTruncated = true;
    return false;
  }
}
