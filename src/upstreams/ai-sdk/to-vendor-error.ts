import { HttpError } from '#base/http/client.ts';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { UpstreamError, type UpstreamErrorDetails } from '#domain/upstreams/upstream.ts';
import { maskSecrets } from '#domain/upstreams/upstream-error.ts';
import { getRetryAfter, isNonEmptyText } from '../reply-text.ts';
import { toUpstreamError } from '../to-upstream-error.ts';

const maxCauses = 8;
const badRequest = 400;
const unauthorized = 401;
/** Faults that the packages find in the request before it is sent. */
const localRejections: ReadonlySet<unknown> = new Set([
  'AI_UnsupportedFunctionalityError',
  'AI_InvalidArgumentError',
  'AI_InvalidPromptError',
  'AI_TooManyEmbeddingValuesForCallError',
]);
/** Of a call that was answered; without a body its words are the package's own. */
const callError = 'AI_APICallError';
/** How packages say that the environment has no credentials. */
const noCredentials = /default credentials|project id|SigV4 authentication requires/i;
/** Faults of what is configured: no key, no region, no project. */
const configurationErrors: ReadonlySet<unknown> = new Set(['AI_LoadAPIKeyError', 'AI_LoadSettingError']);

/**
 * What a vendor's package threw, as a fault of the upstream. It keeps none of the package's own errors, which hold whole
 * requests, and shows no `secrets`.
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
  const broken = chain.find((item) => item instanceof HttpError);
  if (broken !== undefined) return fromHttpError(broken, chain);
  const event = chain.map(({ value }) => value).find(isErrorEvent);
  if (event !== undefined)
    return new UpstreamError('refused', getMessage(event) ?? 'The upstream sent an error.', { code: getCode(event, {}) });
  const [first] = chain;
  if (localRejections.has(first?.name)) return toLocalRejection(first);
  if (configurationErrors.has(first?.name) || noCredentials.test(String(first?.message)))
    return new UpstreamError('broken', 'Its key, region or project is not configured.');
  return new UpstreamError(
    'broken',
    'The upstream sent what is not of its dialect.',
    isPackageError(first) ? {} : { cause: error },
  );
}

/** The packages' own errors quote what was sent and received. */
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

/** An event in the middle of a stream that its package did not know as one. */
function isErrorEvent(value: unknown): value is JsonObject {
  return isJsonObject(value) && value.object === 'error';
}

/** Of the packages' own errors, and of errors inside a stream. */
function getStatus({ statusCode }: ErrorObject): number {
  return typeof statusCode === 'number' ? statusCode : 0;
}

/** Nothing came if the connection closed before the head. */
function fromHttpError(error: ErrorObject & HttpError, chain: readonly ErrorObject[]): unknown {
  const hadHead = chain.some((item) => getStatus(item) > 0);
  if (error.kind === 'closed' && !hadHead)
    return new UpstreamError('unreachable', 'The upstream closed the connection without an answer.', { cause: error });
  return toUpstreamError(error);
}

function toLocalRejection(error: ErrorObject | undefined): UpstreamError {
  const reason = typeof error?.functionality === 'string' ? error.functionality : String(error?.message);
  return new UpstreamError('refused', `The upstream of this model does not accept this: ${reason}.`, { status: badRequest });
}

function toRejection(rejected: ErrorObject): UpstreamError {
  const status = getStatus(rejected);
  const body = getBody(rejected);
  const error = toObject(body.error ?? body);
  const headers = isJsonObject(rejected.responseHeaders) ? (rejected.responseHeaders as Record<string, string>) : {};
  const retryAfterSeconds = getRetryAfter(headers) ?? getRetryDelay(error);
  const message = getMessage(error) ?? getMessage(body);
  const details: UpstreamErrorDetails = {
    isNoApi: message === undefined,
    status: isBadKey(error) ? unauthorized : status,
    code: getCode(error, headers),
    displayMessage: isNonEmptyText(error.display_message) ? error.display_message : null,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
  return new UpstreamError('refused', message ?? `The upstream answered ${status}.`, details);
}

/** What the upstream said: a body, or an error inside a stream. Google wraps a body in a list if a stream was asked for. */
function getBody({ name, responseBody, data, message, type }: ErrorObject): JsonObject {
  if (typeof responseBody !== 'string') return name === callError ? {} : { type, ...toObject(data), message };
  const value = tryParseJson(responseBody);
  return toObject(Array.isArray(value) ? value[0] : value);
}

function toObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function getMessage({ message, Message: awsMessage, detail }: JsonObject): string | undefined {
  const text = [message, awsMessage, detail].find(isNonEmptyText);
  if (text !== undefined) return text;
  const details = Array.isArray(detail) ? detail : isJsonObject(message) && Array.isArray(message.detail) ? message.detail : [];
  const messages = details
    .filter(isJsonObject)
    .map(({ loc, msg }) => `${Array.isArray(loc) ? loc.join('.') : ''}: ${String(msg)}`);
  return messages.length === 0 ? undefined : messages.join('; ');
}

/** The vendor's own word for what went wrong. */
function getCode({ code, status, type }: JsonObject, headers: Readonly<Record<string, string>>): string | null {
  const awsType = headers['x-amzn-errortype']?.split(':')[0];
  return [code, status, awsType, type].find(isNonEmptyText) ?? null;
}

/** Google answers 400 to a key it does not know. */
function isBadKey({ details }: JsonObject): boolean {
  return Array.isArray(details) && details.some((detail) => isJsonObject(detail) && detail.reason === 'API_KEY_INVALID');
}

/** Google says in the error how long to wait, such as `34.07s`. */
function getRetryDelay({ details }: JsonObject): number | undefined {
  for (const detail of Array.isArray(details) ? details.filter(isJsonObject) : []) {
    const [, seconds] = /^(\d{1,9}(?:\.\d+)?)s$/.exec(String(detail.retryDelay)) ?? [];
    if (seconds !== undefined) return Math.ceil(Number(seconds));
  }
  return undefined;
}
