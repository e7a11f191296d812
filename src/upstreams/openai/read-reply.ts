import { defaultJsonBounds, type JsonObject, tryParseJson } from '#base/json.ts';
import { fromLatin1 } from '#base/latin1.ts';
import type { RawCompletion } from '#contract/chunk.ts';
import { Frame, type RawFrame } from '#contract/frame.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { requireVectors } from '../embeddings-reply.ts';
import { faultIn, toSaid } from '../error-in-reply.ts';
import { isNoApiRefusal, plainWordsOf, retryAfterOf, toJsonObject } from '../reply-text.ts';
import type { Refusal, ReplyDialect } from '../upstream-reply.ts';
import { ChatEvents } from './chat-events.ts';
import { requireMessages } from './reply-shape.ts';

/** Thousands of vectors of thousands of numbers. */
const embeddingBounds = { ...defaultJsonBounds, maxNodes: 10_000_000, maxParsedChars: Number.POSITIVE_INFINITY };

/** A chat reply, streamed or in one JSON text. */
export const chatReply: ReplyDialect = { readEvents: () => new ChatEvents(), readWhole: toCompletionFrame, readRefusal };

/** A reply with the embeddings that a request asks for. */
export const embeddingsReply: ReplyDialect<JsonObject> = {
  readWhole(bytes) {
    const reply = toJsonObject(bytes, embeddingBounds);
    const fault = Array.isArray(reply.data) ? undefined : faultIn(reply);
    if (fault !== undefined) throw fault;
    requireVectors(reply);
    return reply;
  },
  readRefusal,
};

function toCompletionFrame(bytes: string): RawFrame {
  const completion = toJsonObject(bytes);
  const fault = faultIn(completion);
  if (fault !== undefined) throw fault;
  requireMessages(completion);
  return Frame.ofRawCompletion(completion as RawCompletion, bytes);
}

export function readRefusal({ status, headers, bytes }: Refusal): UpstreamFault {
  const { message, ...others } = toSaid(tryParseJson(fromLatin1(bytes)));
  const retryAfterSeconds = retryAfterOf(headers);
  return new UpstreamFault('refused', message ?? plainWordsOf(headers, bytes) ?? `The upstream answered ${status}.`, {
    status,
    ...others,
    isNoApi: isNoApiRefusal(message, others.code),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}
