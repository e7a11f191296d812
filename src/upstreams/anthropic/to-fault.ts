import { isJsonObject, type JsonObject, tryParseJson } from '#base/json.ts';
import { fromLatin1 } from '#base/latin1.ts';
import type { MessagesErrorType } from '#contract/messages/dialect.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';
import { isSaid, retryAfterOf } from '../reply-text.ts';
import type { Refusal } from '../upstream-reply.ts';

/** What the dialect answers when it has more to do than it can. */
const overloaded = 529;
const unavailable = 503;

const statuses: ReadonlyMap<unknown, number> = new Map<MessagesErrorType, number>([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', unavailable],
]);

/** The fault that a reply with another status than 200 means; an overloaded upstream counts as unavailable. */
export function readRefusal(refusal: Refusal): UpstreamFault {
  const said = tryParseJson(fromLatin1(refusal.bytes));
  // Google wraps an error in a list if a stream was asked for.
  const value: unknown = Array.isArray(said) ? said[0] : said;
  const error = isJsonObject(value) ? (value.error ?? value) : undefined;
  const status = refusal.status === overloaded ? unavailable : refusal.status;
  const retryAfterSeconds = retryAfterOf(refusal.headers);
  const { message, ...others } = read(error, `The upstream answered ${refusal.status}.`);
  return new UpstreamFault('refused', message, {
    ...others,
    status,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

/** The fault that an error event means. */
export function toEventFault(error: unknown): UpstreamFault {
  const { message, ...said } = read(error, 'The upstream sent an error.');
  const status = isJsonObject(error) ? statuses.get(error.type) : undefined;
  return new UpstreamFault('refused', message, { ...said, ...(status !== undefined && { status }) });
}

function read(error: unknown, otherwise: string): { message: string; code: string | null; displayMessage: string | null } {
  const { message, details, display_message: display } = isJsonObject(error) ? error : ({ message: error } as JsonObject);
  const code = isJsonObject(details) ? details.error_code : undefined;
  return {
    message: isSaid(message) ? message : otherwise,
    code: isSaid(code) ? code : null,
    displayMessage: isSaid(display) ? display : null,
  };
}
