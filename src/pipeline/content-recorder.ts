import type { JsonObject } from '#base/json/json.ts';
import type { ChatRequest } from '#contract/chat/chat-request.ts';
import { Accumulator } from '#contract/chat/fold-frames.ts';
import type { Frame, Native, RawFrame } from '#contract/chat/frame.ts';
import type { ReplySink, Target } from '#domain/call.ts';
import type { CallContent, ContentSource } from '#domain/usage/call-content.ts';
import { translatedReply as translatedMessage } from '#upstreams/anthropic/read-reply.ts';
import { readErrorReply } from '#upstreams/openai/read-reply.ts';
import { translatedReply as translatedResponse } from '#upstreams/responses/read-reply.ts';
import type { EventReader, ReplyDialect } from '#upstreams/upstream-reply.ts';
import { truncateContent } from './truncate-content.ts';

/** Readers of relayed replies, which translate them to chat completions. */
const createDialect: Readonly<Record<'messages' | 'responses', () => ReplyDialect>> = {
  messages: () => translatedMessage(0, ''),
  responses: () => translatedResponse(readErrorReply, { createdSeconds: 0, model: '' }),
};

/** Maximum size of the events that are folded, in relation to the text that is recorded. Most bytes of an event are no text. */
const maxBytesPerTextByte = 64;

/** Returns whether the content of a call is recorded. */
export function recordsContent({ call, deployment, snapshot }: Target): boolean {
  if (snapshot.configuration.records.content === 'none') return false;
  return !call.record.isPrivate && deployment.features.recordsContent !== false;
}

/** Passes a reply on, and folds it for the record of the call. Never fails the reply. */
export class ContentRecorder implements ReplySink, ContentSource {
  readonly #request: ChatRequest;
  readonly #reply: ReplySink;
  readonly #maxBytes: number;
  readonly #folded = new Accumulator();
  #events: EventReader | undefined;
  #bytes = 0;
  #textBytes = 0;
  #hasStarted = false;
  /** Whether the rest of the reply is not folded, because the reply is too long or malformed. */
  #isFull = false;
  #content: CallContent | undefined;

  constructor(request: ChatRequest, { snapshot }: Target, reply: ReplySink) {
    this.#request = request;
    this.#reply = reply;
    this.#maxBytes = snapshot.configuration.records.maxContentBytes;
  }

  frame(frame: Frame): void {
    if (!this.#isFull) this.#fold(frame);
    this.#reply.frame(frame);
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

  #readRelayed({ bytes }: Frame, { dialect, isWhole }: Native): void {
    if (isWhole) this.#add(createDialect[dialect]().readComplete(bytes, {}));
    else {
      this.#events ??= createDialect[dialect]().readEvents?.({});
      this.#events?.readEvents(bytes, { frame: (translated) => this.#add(translated) });
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
    const { id, model, choices } = this.#folded.completion();
    return truncateContent({ id, model, choices }, this.#maxBytes);
  }
}
