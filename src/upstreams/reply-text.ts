import type { ReplyHeaders } from '#base/http/client.ts';
import { defaultJsonBounds, isJsonObject, type JsonObject, parseJson } from '#base/json/json.ts';
import { fromLatin1 } from '#base/text/bytes.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';

/** The JSON object that the bytes are. Throws UpstreamFault. */
export function toJsonObject(bytes: string, bounds = defaultJsonBounds): JsonObject {
  let value: unknown;
  try {
    value = parseJson(fromLatin1(bytes), bounds);
  } catch (cause) {
    throw new UpstreamError('broken', 'The upstream answered with what is not JSON.', { cause });
  }
  if (!isJsonObject(value)) throw new UpstreamError('broken', 'The upstream answered with JSON that is not an object.');
  return value;
}

/** Seconds of a Retry-After field; a date counts from the date of the reply (RFC 9110, 10.2.3). */
export function getRetryAfter(headers: ReplyHeaders): number | undefined {
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  if (/^\d{1,9}(\.\d+)?$/.test(value.trim())) return Math.ceil(Number(value));
  const seconds = Math.ceil((Date.parse(value) - Date.parse(headers.date ?? '')) / 1000);
  return seconds >= 0 ? seconds : undefined;
}

/** How web frameworks say in JSON that they have no such path. */
const frameworkNotFound = 'Not Found';
const maxTextChars = 2000;

/** What came with a refusal, if it is plain text; undefined for pages, and for nothing. */
export function getPlainText(headers: ReplyHeaders, bytes: string): string | undefined {
  if (!/^text\/plain\b/i.test(headers['content-type'] ?? 'text/plain')) return undefined;
  const text = fromLatin1(bytes).trim();
  if (text === '' || text.startsWith('<')) return undefined;
  return text.length > maxTextChars ? `${text.slice(0, maxTextChars).toWellFormed()}…` : text;
}

/** Whether an upstream's words say anything: some send an error without. */
export function isNonEmptyText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** Whether a refusal shows that no model API answered: it says nothing in JSON, or what a framework says of a missing path. */
export function isNoApiRejection(message: string | undefined, code: string | null): boolean {
  return message === undefined || (message === frameworkNotFound && code === null);
}
