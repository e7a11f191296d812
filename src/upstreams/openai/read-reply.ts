import { defaultJsonBounds, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { fromLatin1 } from '#base/text/bytes.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { requireVectors } from '../embeddings-reply.ts';
import { faultIn, toSaid } from '../error-in-reply.ts';
import { isNoApiRefusal, plainWordsOf, retryAfterOf, toJsonObject } from '../reply-text.ts';
import type { Refusal, ReplyDialect } from '../upstream-reply.ts';

/** Thousands of vectors of thousands of numbers. */
const embeddingBounds = { ...defaultJsonBounds, maxNodes: 10_000_000, maxParsedChars: Number.POSITIVE_INFINITY };

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

/** The fault that a refusal means, in OpenAI’s form. */
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
