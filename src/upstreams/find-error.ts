import type { ReplyHeaders } from '#base/http/client.ts';
import { defaultJsonBounds, isJsonObject, type JsonObject, parseJson, tryParseJson } from '#base/json/json.ts';
import { listEventData } from '#base/stream/event-splitter.ts';
import { fromLatin1 } from '#base/text/bytes.ts';
import { getStatusOfCode, readContextOverflow } from '#contract/errors/error-conditions.ts';
import { UpstreamError, type UpstreamErrorDetails } from '#domain/upstreams/upstream.ts';

/** Finish reasons of successful replies. */
const successReasons: ReadonlySet<unknown> = new Set([
  undefined,
  null,
  'stop',
  'length',
  'tool_calls',
  'function_call',
  'content_filter',
]);
/** Finish reasons of replies that the server could not finish. */
const failedReason =
  /^(?:error|abort|aborted|cancelled|failed|network_error|insufficient_system_resource)$|malformed_function_call/i;
const errorName = /^event: ?error$/m;

interface ErrorDetails extends Required<Pick<UpstreamErrorDetails, 'type' | 'param' | 'code' | 'displayMessage'>> {
  readonly message: string | undefined;
}

const emptyDetails: ErrorDetails = { message: undefined, type: null, param: null, code: null, displayMessage: null };

/** Returns the details of an upstream's error in the form of OpenAI or FastAPI, or of an `error` that is a text. */
export function readErrorDetails(value: unknown): ErrorDetails {
  if (!isJsonObject(value)) return emptyDetails;
  const { message, type, param, code, details, display_message } = getErrorObject(value);
  const codes = [code, isJsonObject(details) ? details.error_code : undefined];
  return {
    message: isNonEmptyText(message) ? message : findMessage(value),
    type: toTextOrNull(type),
    param: toTextOrNull(param),
    code: codes.find(isNonEmptyText) ?? null,
    displayMessage: toTextOrNull(display_message),
  };
}

function getErrorObject(value: JsonObject): JsonObject {
  const { error = value } = value;
  return isJsonObject(error) ? error : { message: error };
}

/** Returns the message of an error body that has no `error` object. */
function findMessage({ message, msg, detail, errors }: JsonObject): string | undefined {
  const inner = isJsonObject(detail) ? [detail.message, detail.error] : [];
  return [message, msg, detail, ...inner, getFirst(detail)?.msg, getFirst(errors)?.message].find(isNonEmptyText);
}

function toTextOrNull(value: unknown): string | null {
  return isNonEmptyText(value) ? value : null;
}

function getFirst(list: unknown): JsonObject | undefined {
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  return isJsonObject(first) ? first : undefined;
}

/**
 * Returns the error that an event or a reply with the status 200 contains, in any dialect. Returns undefined if there is no error.
 * Some upstreams send `choices` with an error. A message without choices counts as an error.
 */
export function findError(value: JsonObject): UpstreamError | undefined {
  const { object, type, error, choices, candidates } = value;
  if (object === 'error' || type === 'error') return toReportedError(value);
  if (!Array.isArray(choices)) {
    const isError = (error ?? null) !== null || (!Array.isArray(candidates) && findMessage(value) !== undefined);
    return isError ? toReportedError(value) : undefined;
  }
  if (error && isFilled(error)) return toReportedError(value);
  for (const choice of choices) {
    if (!isJsonObject(choice)) continue;
    const { error: choiceError, finish_reason: reason } = choice;
    if (choiceError && isFilled(choiceError)) return toReportedError({ error: choiceError });
    if (!successReasons.has(reason) && isFailedReason(reason)) return createEndError(reason);
  }
  return undefined;
}

/** Parses the data of an event, which must be a JSON object. Throws `UpstreamError`, also the error that the event reports. */
export function parseEventData(data: string, bounds = defaultJsonBounds): JsonObject {
  const value = tryParseJson(fromLatin1(data), bounds);
  if (!isJsonObject(value)) throw new UpstreamError('broken', 'The upstream sent an event that is not a JSON object.');
  const error = findError(value);
  if (error !== undefined) throw error;
  return value;
}

function isFilled(error: unknown): boolean {
  return isNonEmptyText(error) || (isJsonObject(error) && Object.keys(error).length > 0);
}

/** Returns whether a finish reason means that the reply failed. */
export function isFailedReason(reason: unknown): reason is string {
  return typeof reason === 'string' && failedReason.test(reason);
}

/** Returns the error for a reply with a finish reason of a failed reply. */
export function createEndError(reason: string): UpstreamError {
  return new UpstreamError('broken', `The upstream ended its reply with the finish reason ${reason}.`);
}

/** Returns the error of an event with the name `error`, even if its data is not JSON. Returns undefined for other events. */
export function findNamedError(event: string): UpstreamError | undefined {
  if (!errorName.test(event)) return undefined;
  const text = fromLatin1(listEventData(event)[0] ?? '');
  const value = tryParseJson(text);
  return toReportedError(isJsonObject(value) ? value : { error: isNonEmptyText(value) ? value : text });
}

/** Returns the error that a JSON value of an upstream reports. */
export function toReportedError(value: JsonObject): UpstreamError {
  const { message = 'The upstream sent an error.', ...details } = readErrorDetails(value);
  const isOverflow = readContextOverflow(details.code, message) !== undefined;
  const status = getStatus(getErrorObject(value)) ?? getStatus(value) ?? (isOverflow ? 400 : undefined);
  return new UpstreamError('refused', message, { ...details, ...(status !== undefined && { status }) });
}

/** Returns the status. DIAL applications send it as the code in streams, where no HTTP status can be sent. */
function getStatus({ code, type }: JsonObject): number | undefined {
  const isText = typeof code === 'string' || typeof code === 'number';
  return isText && /^[45]\d\d$/.test(`${code}`) ? Number(code) : (getStatusOfCode(code) ?? getStatusOfCode(type));
}

/** Parses the bytes of a reply, which must be a JSON object. Throws `UpstreamError`. */
export function parseReply(bytes: string, bounds = defaultJsonBounds): JsonObject {
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
