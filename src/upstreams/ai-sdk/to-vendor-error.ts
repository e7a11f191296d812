import { HttpError } from '#base/http/client.ts';
import { filterObjects, isJsonObject, type JsonObject, toObject, tryParseJson } from '#base/json/json.ts';
import { UpstreamError, type UpstreamErrorDetails } from '#domain/upstreams/upstream.ts';
import { maskSecrets } from '#domain/upstreams/upstream-error.ts';
import { getRetryAfter, isNonEmptyText } from '../find-error.ts';
import { toEarlyError, toUpstreamError } from '../to-upstream-error.ts';

const maxCauses = 8;
const badRequest = 400;
const unauthorized = 401;
/** Names of errors that the packages throw for a request before sending it. */
const localRejections: ReadonlySet<unknown> = new Set([
  'AI_UnsupportedFunctionalityError',
  'AI_InvalidArgumentError',
  'AI_InvalidPromptError',
  'AI_TooManyEmbeddingValuesForCallError',
]);
/** Name of the package error for a failed call. Without a response body, its message is written by the package. */
const callError = 'AI_APICallError';
/** Messages of the packages if the environment has no credentials. */
const noCredentials = /default credentials|project id|SigV4 authentication requires/i;
/** Names of errors for a missing key, region, or project. */
const configurationErrors: ReadonlySet<unknown> = new Set(['AI_LoadAPIKeyError', 'AI_LoadSettingError']);

/**
 * Converts an error that a vendor's package threw. Drops the package's own errors, because they contain the complete request, and
 * masks `secrets`.
 */
export function toVendorError(cause: unknown, secrets: readonly string[]): unknown {
  const error = convert(cause);
  return error instanceof UpstreamError ? maskSecrets(error, secrets) : error;
}

function convert(error: unknown): unknown {
  const chain = listCauses(error);
  const upstreamError = chain.find((item) => item instanceof UpstreamError);
  if (upstreamError !== undefined) return upstreamError;
  const rejected = chain.find((item) => getStatus(item) >= badRequest);
  if (rejected !== undefined) return toRejection(rejected);
  const httpError = chain.find((item) => item instanceof HttpError);
  if (httpError !== undefined) return fromHttpError(httpError, chain);
  const event = chain.map(({ value }) => value).find(isErrorEvent);
  if (event !== undefined)
    return new UpstreamError('refused', getMessage(event) ?? 'The upstream sent an error.', { code: getCode(event, {}) });
  const [first] = chain;
  if (localRejections.has(first?.name)) return toLocalRejection(first);
  if (configurationErrors.has(first?.name) || noCredentials.test(String(first?.message)))
    return new UpstreamError('broken', 'Its key, region, or project is not configured.');
  return new UpstreamError(
    'broken',
    'The upstream sent a reply in an unknown format.',
    isPackageError(first) ? {} : { cause: error },
  );
}

/** Returns whether the error is from a package. Package errors quote the request and the reply. */
function isPackageError(error: ErrorObject | undefined): boolean {
  return String(error?.name).startsWith('AI_');
}

interface ErrorObject extends JsonObject {
  readonly name?: unknown;
  readonly message?: unknown;
}

function listCauses(error: unknown): ErrorObject[] {
  const chain: ErrorObject[] = [];
  for (let cause = error; isJsonObject(cause) && chain.length < maxCauses; cause = cause.cause) chain.push(cause);
  return chain;
}

/** Returns whether the value is an error event in a stream. The packages do not recognize all of them. */
function isErrorEvent(value: unknown): value is JsonObject {
  return isJsonObject(value) && value.object === 'error';
}

/** Returns the status of a package error or of an error in a stream. Returns 0 for other errors. */
function getStatus({ statusCode }: ErrorObject): number {
  return typeof statusCode === 'number' ? statusCode : 0;
}

/** Converts an HTTP error. The reply has started if the chain has a status. */
function fromHttpError(error: ErrorObject & HttpError, chain: readonly ErrorObject[]): unknown {
  const hasHeaders = chain.some((item) => getStatus(item) > 0);
  return hasHeaders ? toUpstreamError(error) : toEarlyError(error);
}

function toLocalRejection(error: ErrorObject | undefined): UpstreamError {
  const reason = typeof error?.functionality === 'string' ? error.functionality : String(error?.message);
  return new UpstreamError('refused', `The upstream of this model does not accept this: ${reason}.`, { status: badRequest });
}

function toRejection(rejected: ErrorObject): UpstreamError {
  const status = getStatus(rejected);
  const body = getBody(rejected);
  const error = toObject(body.error ?? body);
  const headers = toObject(rejected.responseHeaders) as Record<string, string>;
  const retryAfterSeconds = getRetryAfter(headers) ?? getRetryDelay(error);
  const message = getMessage(error) ?? getMessage(body);
  const details: UpstreamErrorDetails = {
    isNotFromModelApi: message === undefined,
    status: isBadKey(error) ? unauthorized : status,
    code: getCode(error, headers),
    displayMessage: isNonEmptyText(error.display_message) ? error.display_message : null,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
  return new UpstreamError('refused', message ?? `The upstream answered ${status}.`, details);
}

/** Returns the body of the error response, or the error in a stream. Google wraps the body in a list for a streaming request. */
function getBody({ name, responseBody, data, message, type }: ErrorObject): JsonObject {
  if (typeof responseBody !== 'string') return name === callError ? {} : { type, ...toObject(data), message };
  const value = tryParseJson(responseBody);
  return toObject(Array.isArray(value) ? value[0] : value);
}

function getMessage({ message, Message: awsMessage, detail }: JsonObject): string | undefined {
  const text = [message, awsMessage, detail].find(isNonEmptyText);
  if (text !== undefined) return text;
  const details = Array.isArray(detail) ? detail : toObject(message).detail;
  const messages = filterObjects(details).map(({ loc, msg }) => {
    const location = Array.isArray(loc) ? loc.filter(isTextOrNumber).join('.') : '';
    return `${location}: ${isTextOrNumber(msg) ? msg : ''}`;
  });
  return messages.length === 0 ? undefined : messages.join('; ');
}

/** A large integer of a reply is an object that cannot be converted to text, like some objects that upstreams can send. */
function isTextOrNumber(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

/** Returns the vendor's error code, which has a different location for each vendor. */
function getCode({ code, status, type }: JsonObject, headers: Readonly<Record<string, string>>): string | null {
  const awsType = headers['x-amzn-errortype']?.split(':')[0];
  return [code, status, awsType, type].find(isNonEmptyText) ?? null;
}

/** Returns whether Google rejected the key. Google answers an invalid key with 400. */
function isBadKey({ details }: JsonObject): boolean {
  return filterObjects(details).some(({ reason }) => reason === 'API_KEY_INVALID');
}

/** Returns the seconds of Google's `retryDelay`, such as `34.07s`, rounded up. */
function getRetryDelay({ details }: JsonObject): number | undefined {
  for (const { retryDelay } of filterObjects(details)) {
    const [, seconds] = (typeof retryDelay === 'string' && /^(\d{1,9}(?:\.\d+)?)s$/.exec(retryDelay)) || [];
    if (seconds !== undefined) return Math.ceil(Number(seconds));
  }
  return undefined;
}
