import { toObject, tryParseJson } from '#base/json/json.ts';
import { toLatin1 } from '#base/text/bytes.ts';
import { answerBound, FoldLimit } from '#contract/chat/fold-frames.ts';
import { type Frame, type Native, requireForm } from '#contract/chat/frame.ts';
import type { ParleyError } from '#contract/errors/errors.ts';
import {
  type BlockDelta,
  type ContentBlock,
  type MessagesReply,
  type Relayed,
  toMessagesError,
} from '#contract/messages/dialect.ts';
import type { ReplySink } from '#domain/calls/call.ts';
import { thoughtFields } from '#domain/upstreams/find-unsupported-thoughts.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { isCredentialStatus } from '#domain/upstreams/upstream-health.ts';
import type { EventHead } from '../http/replies/event-stream.ts';
import { ignoredHeader, toIgnoredNames } from '../http/replies/header-fields.ts';
import { sendJson } from '../http/replies/send-json.ts';
import type { EventWriter } from '../http/replies/streamed-reply.ts';
import type { RequestContext } from '../http/request-context.ts';
import { type MessageEvent, toNamedEvent, toTextEvents } from './blocks.ts';
import { toRateLimitHeaders } from './error-dialect.ts';
import type { ReplyEvents } from './reply-events.ts';

const pingHeartbeat = toNamedEvent({ type: 'ping' });
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON strings must not contain them.
const escapesOrControls = /[\0-\x1f\\]/;

/** Sends a reply as one JSON document. A relayed reply is forwarded unchanged. Other replies are assembled from events. */
export class JsonMessage implements ReplySink {
  readonly #context: RequestContext;
  readonly #events: ReplyEvents;
  readonly #ignored: readonly string[];
  readonly #fold = new MessageFold();
  #relayed: Frame | undefined;
  readonly #budget = new FoldLimit(answerBound);

  /** `ignored` contains the fields that the request translation omitted. */
  constructor(context: RequestContext, events: ReplyEvents, ignored: readonly string[]) {
    this.#context = context;
    this.#events = events;
    this.#ignored = ignored;
  }

  /** Throws `upstream_failed` if the reply is too large, or is a stream although one document was requested. */
  push(frame: Frame): void {
    this.#budget.consume(frame);
    if (frame.native !== undefined) {
      requireForm(frame.native, 'complete');
      this.#relayed = frame;
    } else for (const event of frame.chunks.flatMap((chunk) => this.#events.add(chunk))) this.#fold.add(event);
  }

  end(): void {
    const context = this.#context;
    const relayed = this.#relayed;
    if (relayed === undefined) for (const event of this.#events.end()) this.#fold.add(event);
    const headers = buildHeaders(context, relayed, this.#ignored);
    sendJson(context.response, 200, relayed?.bytes ?? toLatin1(JSON.stringify(this.#fold.message)), headers);
  }

  fail(error: unknown): void {
    this.#context.sendError(error);
  }
}

/** Writes a reply as events of the dialect. The bytes of a relayed reply are forwarded unchanged. */
export class MessageWriter implements EventWriter {
  readonly #events: ReplyEvents;
  readonly #ignored: readonly string[];
  #isRelayed = false;

  constructor(events: ReplyEvents, ignored: readonly string[]) {
    this.#events = events;
    this.#ignored = ignored;
  }

  begin(context: RequestContext, first: Frame): EventHead {
    if (first.native !== undefined) requireForm(first.native, 'streamed');
    this.#isRelayed = first.native !== undefined;
    const headers = buildHeaders(context, first, this.#ignored);
    // A relayed stream must not contain additional events.
    return this.#isRelayed ? { headers } : { headers, heartbeat: pingHeartbeat };
  }

  toBytes(frame: Frame): string {
    if (frame.native !== undefined) return frame.bytes;
    const { openTextIndex } = this.#events;
    if (openTextIndex !== undefined) {
      const pieces = frame.contentPieces;
      if (pieces?.every(isJsonText)) return toTextEvents(pieces, openTextIndex);
    }
    return frame.chunks.flatMap((chunk) => this.#events.add(chunk).map(toNamedEvent)).join('');
  }

  end(): string {
    return this.#isRelayed ? '' : this.#events.end().map(toNamedEvent).join('');
  }

  toErrorEvent(error: ParleyError, context: RequestContext): string {
    return toNamedEvent(toMessagesError(this.#isRelayed ? toUpstreamError(error) : error, context.id));
  }
}

function buildHeaders(context: RequestContext, frame: Frame | undefined, ignored: readonly string[]): Record<string, string> {
  const ignoredInTranslation = frame?.native === undefined ? ignored : [];
  const allIgnored = [...new Set([...ignoredInTranslation, ...[...context.ignored].map(toMessagesField)])];
  const nowEpochMs = context.clock.epochMs();
  return toReplyHeaders(frame?.native, { headers: context.headers, ignored: allIgnored, nowEpochMs });
}

interface HeaderContext {
  /** Headers of every response to the caller, such as its remaining limits. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names of the fields that did not reach the upstream. */
  readonly ignored: readonly string[];
  readonly nowEpochMs: number;
}

const rateLimitNamePattern = /^(?:anthropic|x)-ratelimit-/;

/**
 * Returns the headers of a successful reply, with the names of omitted request fields. A relayed reply includes the headers of
 * its upstream, except rate limits if the caller has its own. The caller's limits are also included under the dialect's names.
 */
export function toReplyHeaders(
  native: Native | undefined,
  { headers, ignored, nowEpochMs }: HeaderContext,
): Record<string, string> {
  const isLimited = Object.keys(headers).some((name) => rateLimitNamePattern.test(name));
  const upstreamHeaders = Object.entries((native as Relayed | undefined)?.headers ?? {});
  const forwardedHeaders = upstreamHeaders.filter(([name]) => !(isLimited && rateLimitNamePattern.test(name)));
  return {
    ...headers,
    ...toRateLimitHeaders(headers, nowEpochMs),
    ...Object.fromEntries(forwardedHeaders),
    ...(ignored.length > 0 && { [ignoredHeader]: toIgnoredNames(ignored) }),
  };
}

/** Returns the name of a chat completions field in this dialect. */
function toMessagesField(field: string): string {
  return field === thoughtFields.plain || field === thoughtFields.signed ? 'content.thinking' : field;
}

/** Returns whether a piece is valid inside a JSON string. A frame with an invalid piece fails when its chunks are parsed. */
function isJsonText(piece: string): boolean {
  return !escapesOrControls.test(piece) || tryParseJson(`"${piece}"`) !== undefined;
}

/** Assembles the events of a message into the JSON reply. */
export class MessageFold {
  #message: MessagesReply | undefined;
  #block: ContentBlock | undefined;
  readonly #pieces: string[] = [];

  add(event: MessageEvent): void {
    switch (event.type) {
      case 'message_start':
        this.#message = event.message;
        break;
      case 'content_block_start':
        this.#block = { ...event.content_block };
        break;
      case 'content_block_delta':
        this.#addDelta(event.delta);
        break;
      case 'content_block_stop':
        this.#endBlock();
        break;
      case 'message_delta': {
        const { delta, usage, parley } = event;
        if (this.#message !== undefined)
          this.#message = { ...this.#message, ...delta, usage: { ...this.#message.usage, ...usage }, parley };
        break;
      }
    }
  }

  /** Assembled message. Undefined before the first event. */
  get message(): MessagesReply | undefined {
    return this.#message;
  }

  #addDelta(delta: BlockDelta): void {
    if (delta.type === 'signature_delta') this.#block = { ...this.#block, signature: delta.signature } as ContentBlock;
    else if (delta.type === 'text_delta') this.#pieces.push(delta.text);
    else if (delta.type === 'thinking_delta') this.#pieces.push(delta.thinking);
    else if (delta.type === 'input_json_delta') this.#pieces.push(delta.partial_json);
  }

  #endBlock(): void {
    const text = this.#pieces.splice(0).join('');
    const block = this.#block;
    if (block === undefined) return;
    if (block.type === 'text') block.text = text;
    else if (block.type === 'thinking') block.thinking = text;
    else if (block.type === 'tool_use') block.input = toInput(text);
    this.#message?.content.push(block);
  }
}

/** Returns the input of a tool call, which is empty for a truncated call. The stop reason indicates the truncation. */
function toInput(args: string): object {
  return toObject(tryParseJson(args));
}

/**
 * Returns the error that ended a relayed stream, with the upstream's status and message, because the error type determines
 * whether clients retry. Returns other errors unchanged, including errors about Parley's credentials or plan, because clients
 * cannot resolve these.
 */
function toUpstreamError(error: ParleyError): Pick<ParleyError, 'status' | 'message' | 'param' | 'displayMessage' | 'overflow'> {
  const { cause, overflow } = error;
  if (!(cause instanceof UpstreamError) || cause.status === undefined || isCredentialStatus(cause.status)) return error;
  return { status: cause.status, message: cause.message, param: null, displayMessage: cause.displayMessage, overflow };
}
