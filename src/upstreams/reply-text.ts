import type { ReplyHeaders } from '#base/http/client.ts';
import { defaultJsonBounds, isJsonObject, type JsonObject, parseJson } from '#base/json/json.ts';
import { fromLatin1 } from '#base/text/bytes.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';

/** Parses the bytes as a JSON object. Throws `UpstreamError`. */
export function toJsonObject(bytes: string, bounds = defaultJsonBounds): JsonObject {
  let value: unknown;
  try {
    value = parseJson(fromLatin1(bytes), bounds);
  } catch (cause) {
    throw new UpstreamError('broken', 'The upstream answered with text that is not JSON.', { cause });
  }
  if (!isJsonObject(value)) throw new UpstreamError('broken', 'The upstream answered with JSON that is not an object.');
  return value;
}

/** Returns the seconds of a Retry-After header. A date is relative to the date of the reply (RFC 9110, 10.2.3). */
export function getRetryAfter(headers: ReplyHeaders): number | undefined {
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  if (/^\d{1,9}(\.\d+)?$/.test(value.trim())) return Math.ceil(Number(value));
  const seconds = Math.ceil((Date.parse(value) - Date.parse(headers.date ?? '')) / 1000);
  return seconds >= 0 ? seconds : undefined;
}

/** Message of web frameworks for an unknown path, in JSON. */
const frameworkNotFound = 'Not Found';
const maxTextChars = 2000;

/** Returns the body of an error reply if it is plain text. Returns undefined for HTML pages and empty bodies. */
export function getPlainText(headers: ReplyHeaders, bytes: string): string | undefined {
  if (!/^text\/plain\b/i.test(headers['content-type'] ?? 'text/plain')) return undefined;
  const text = fromLatin1(bytes).trim();
  if (text === '' || text.startsWith('<')) return undefined;
  return text.length > maxTextChars ? `${text.slice(0, maxTextChars).toWellFormed()}…` : text;
}

/** Returns whether the value is a text with content. Some upstreams send an error without a message. */
export function isNonEmptyText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/**
 * Returns whether an error reply did not come from a model API: it has no message in JSON, or a framework's message for an
 * unknown path.
 */
export function isNotFromModelApi(message: string | undefined, code: string | null): boolean {
  return message === undefined || (message === frameworkNotFound && code === null);
}
