import { defaultJsonBounds, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { fromLatin1 } from '#base/text/bytes.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { requireVectors } from '../embeddings-reply.ts';
import { findError, toErrorDetails } from '../find-error.ts';
import { getPlainText, getRetryAfter, isNotFromModelApi, toJsonObject } from '../reply-text.ts';
import type { ErrorReply, ReplyDialect } from '../upstream-reply.ts';

/** Sufficient for thousands of vectors with thousands of numbers each. */
const embeddingBounds = { ...defaultJsonBounds, maxNodes: 10_000_000, maxParsedChars: Number.POSITIVE_INFINITY };

/** Reader of embeddings replies. */
export const embeddingsReply: ReplyDialect<JsonObject> = {
  readComplete(bytes) {
    const reply = toJsonObject(bytes, embeddingBounds);
    const error = Array.isArray(reply.data) ? undefined : findError(reply);
    if (error !== undefined) throw error;
    requireVectors(reply);
    return reply;
  },
  readErrorReply,
};

/** Returns the error for a reply in OpenAI’s form. */
export function readErrorReply({ status, headers, bytes }: ErrorReply): UpstreamError {
  const { message, ...details } = toErrorDetails(tryParseJson(fromLatin1(bytes)));
  const retryAfterSeconds = getRetryAfter(headers);
  return new UpstreamError('refused', message ?? getPlainText(headers, bytes) ?? `The upstream answered ${status}.`, {
    status,
    ...details,
    isNotFromModelApi: isNotFromModelApi(message, details.code),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}
