import type { ReplyHeaders } from '#base/http/client.ts';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { fromLatin1 } from '#base/text/bytes.ts';
import type { Completion } from '#contract/chat/chunk.ts';
import { Accumulator } from '#contract/chat/fold-frames.ts';
import { Frame } from '#contract/chat/frame.ts';
import type { Relayed } from '#contract/messages/dialect.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { toCount } from '#domain/usage/usage.ts';
import { findError, getPlainText, getRetryAfter, isNotFromModelApi, parseReply, readErrorDetails } from '../find-error.ts';
import type { ErrorReply, ReplyDialect } from '../upstream-reply.ts';
import { RelayedEvents, TranslatedEvents, toEndError } from './event-readers.ts';
import { MessageReader, toUsage } from './message-reader.ts';

/** Status that the Messages API returns while it is overloaded. */
const overloadedStatus = 529;
const unavailableStatus = 503;

/** Returns the error for a reply with a status other than 200. An overloaded upstream counts as unavailable. */
function readErrorReply(reply: ErrorReply): UpstreamError {
  const parsed = tryParseJson(fromLatin1(reply.bytes));
  // Google wraps an error in a list if a stream was requested.
  const { message, code, displayMessage } = readErrorDetails(Array.isArray(parsed) ? parsed[0] : parsed);
  const status = reply.status === overloadedStatus ? unavailableStatus : reply.status;
  const retryAfterSeconds = getRetryAfter(reply.headers);
  const text = message ?? getPlainText(reply.headers, reply.bytes) ?? `The upstream answered ${reply.status}.`;
  return new UpstreamError('refused', text, {
    ...{ code, displayMessage, status, isNotFromModelApi: isNotFromModelApi(message, code) },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

const limitNamePattern = /^anthropic-(?:ratelimit|priority)-[a-z0-9-]{1,64}$/;
const limitValuePattern = /^[\x20-\x7e]{1,200}$/;
const requestIdPattern = /^[\w.-]{1,128}$/;

/** Creates the reader of replies that are translated to chat completions frames. */
export function createTranslatedDialect(createdSeconds: number, model: string): ReplyDialect {
  return {
    createEventReader: () => new TranslatedEvents(new MessageReader(createdSeconds, model)),
    readComplete: (bytes) => Frame.ofCompletion(toCompletion(toMessage(bytes), createdSeconds, model)),
    readErrorReply,
  };
}

/** Reader of replies that are relayed unchanged to a client of the dialect. */
export const relayedDialect: ReplyDialect = {
  createEventReader: (headers) => new RelayedEvents(selectClientHeaders(headers)),
  readComplete(bytes, headers) {
    const { usage: counts } = toMessage(bytes);
    const usage = isJsonObject(counts) ? toUsage(counts) : undefined;
    const relayed: Relayed = {
      ...{ dialect: 'messages', isCompleteReply: true, isLast: true, textBytes: bytes.length, usage },
      headers: selectClientHeaders(headers),
    };
    return Frame.ofNative(bytes, relayed);
  },
  readErrorReply,
};

/** Reader of replies that contain only the token count of a request. */
export const tokenCountDialect: ReplyDialect<number> = {
  readComplete(bytes) {
    const { input_tokens: tokens } = parseReply(bytes);
    if (typeof tokens === 'number') return toCount(tokens);
    throw new UpstreamError('broken', 'The upstream answered with JSON that is not a token count.');
  },
  readErrorReply,
};

function toMessage(bytes: string): JsonObject {
  const value = parseReply(bytes);
  const error = findError(value) ?? toEndError(value);
  if (error !== undefined) throw error;
  if (Array.isArray(value.content)) return value;
  throw new UpstreamError('broken', 'The upstream answered with JSON that is not a message.');
}

/** Returns the headers for the client: the remaining limits of the upstream, and its request ID. */
function selectClientHeaders(headers: ReplyHeaders): Record<string, string> {
  const { 'request-id': id } = headers;
  const limits = Object.entries(headers).filter(([name, value]) => limitNamePattern.test(name) && limitValuePattern.test(value));
  return { ...Object.fromEntries(limits), ...(id !== undefined && requestIdPattern.test(id) && { 'request-id': id }) };
}

/**
 * Converts a complete reply to a completion, which equals the completion of the streamed reply. Throws `UpstreamError` if the
 * reply is not a message.
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
  return folded.getCompletion();
}
