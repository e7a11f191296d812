import { tryParseJson } from '#base/json.ts';
import { fromLatin1 } from '#base/text-bytes.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { toSaid } from '../error-in-reply.ts';
import { isNoApiRefusal, plainWordsOf, retryAfterOf } from '../reply-text.ts';
import type { Refusal } from '../upstream-reply.ts';

/** What the dialect answers when it has more to do than it can. */
const overloaded = 529;
const unavailable = 503;

/** The fault that a reply with another status than 200 means; an overloaded upstream counts as unavailable. */
export function readRefusal(refusal: Refusal): UpstreamFault {
  const said = tryParseJson(fromLatin1(refusal.bytes));
  // Google wraps an error in a list if a stream was asked for.
  const { message, code, displayMessage } = toSaid(Array.isArray(said) ? said[0] : said);
  const status = refusal.status === overloaded ? unavailable : refusal.status;
  const retryAfterSeconds = retryAfterOf(refusal.headers);
  const words = message ?? plainWordsOf(refusal.headers, refusal.bytes) ?? `The upstream answered ${refusal.status}.`;
  return new UpstreamFault('refused', words, {
    ...{ code, displayMessage, status, isNoApi: isNoApiRefusal(message, code) },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}
