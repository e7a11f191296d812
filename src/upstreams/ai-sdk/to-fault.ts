import { HttpFault } from '#base/http/client.ts';
import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { UpstreamFault, type UpstreamFaultDetails } from '#domain/upstreams/upstream.ts';
import { masked } from '#domain/upstreams/upstream-error.ts';
import { isSaid, retryAfterOf } from '../reply-text.ts';
import { toUpstreamFault } from '../to-upstream-fault.ts';

const deepestCause = 8;
const badRequest = 400;
const unauthorized = 401;
/** Faults that the packages find in the request before it is sent. */
const refusedHere: ReadonlySet<unknown> = new Set([
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
const unconfigured: ReadonlySet<unknown> = new Set(['AI_LoadAPIKeyError', 'AI_LoadSettingError']);

/**
 * What a vendor's package threw, as a fault of the upstream. It keeps none of the package's own errors, which hold whole
 * requests, and shows no `secrets`.
 */
export function toFault(thrown: unknown, secrets: readonly string[]): unknown {
  const fault = read(thrown);
  return fault instanceof UpstreamFault ? masked(fault, secrets) : fault;
}

function read(thrown: unknown): unknown {
  const chain = causesOf(thrown);
  const known = chain.find((each) => each instanceof UpstreamFault);
  if (known !== undefined) return known;
  const refused = chain.find((each) => statusOf(each) >= badRequest);
  if (refused !== undefined) return toRefusal(refused);
  const broken = chain.find((each) => each instanceof HttpFault);
  if (broken !== undefined) return fromWire(broken, chain);
  const event = chain.map(({ value }) => value).find(isErrorEvent);
  if (event !== undefined)
    return new UpstreamFault('refused', messageOf(event) ?? 'The upstream sent an error.', { code: codeOf(event, {}) });
  const [first] = chain;
  if (refusedHere.has(first?.name)) return toOwnRefusal(first);
  if (unconfigured.has(first?.name) || noCredentials.test(String(first?.message)))
    return new UpstreamFault('broken', 'Its key, region or project is not configured.');
  return new UpstreamFault(
    'broken',
    'The upstream sent what is not of its dialect.',
    isOfPackage(first) ? {} : { cause: thrown },
  );
}

/** The packages' own errors quote what was sent and received. */
function isOfPackage(error: ErrorObject | undefined): boolean {
  return String(error?.name).startsWith('AI_');
}

interface ErrorObject extends JsonObject {
  readonly name?: unknown;
  readonly message?: unknown;
}

function causesOf(thrown: unknown): ErrorObject[] {
  const chain: ErrorObject[] = [];
  for (let each = thrown; isJsonObject(each) && chain.length < deepestCause; each = each.cause) chain.push(each);
  return chain;
}

/** An event in the middle of a stream that its package did not know as one. */
function isErrorEvent(value: unknown): value is JsonObject {
  return isJsonObject(value) && value.object === 'error';
}

/** Of the packages' own errors, and of errors inside a stream. */
function statusOf({ statusCode }: ErrorObject): number {
  return typeof statusCode === 'number' ? statusCode : 0;
}

/** Nothing came if the connection closed before the head. */
function fromWire(fault: ErrorObject & HttpFault, chain: readonly ErrorObject[]): unknown {
  const hadHead = chain.some((each) => statusOf(each) > 0);
  if (fault.kind === 'closed' && !hadHead)
    return new UpstreamFault('unreachable', 'The upstream closed the connection without an answer.', { cause: fault });
  return toUpstreamFault(fault);
}

function toOwnRefusal(error: ErrorObject | undefined): UpstreamFault {
  const what = typeof error?.functionality === 'string' ? error.functionality : String(error?.message);
  return new UpstreamFault('refused', `The upstream of this model does not take this: ${what}.`, { status: badRequest });
}

function toRefusal(refused: ErrorObject): UpstreamFault {
  const status = statusOf(refused);
  const body = bodyOf(refused);
  const error = toObject(body.error ?? body);
  const headers = isJsonObject(refused.responseHeaders) ? (refused.responseHeaders as Record<string, string>) : {};
  const retryAfterSeconds = retryAfterOf(headers) ?? retryDelayOf(error);
  const message = messageOf(error) ?? messageOf(body);
  const details: UpstreamFaultDetails = {
    isNoApi: message === undefined,
    status: isBadKey(error) ? unauthorized : status,
    code: codeOf(error, headers),
    displayMessage: isSaid(error.display_message) ? error.display_message : null,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
  return new UpstreamFault('refused', message ?? `The upstream answered ${status}.`, details);
}

/** What the upstream said: a body, or an error inside a stream. Google wraps a body in a list if a stream was asked for. */
function bodyOf({ name, responseBody, data, message, type }: ErrorObject): JsonObject {
  if (typeof responseBody !== 'string') return name === callError ? {} : { type, ...toObject(data), message };
  const value = tryParseJson(responseBody);
  return toObject(Array.isArray(value) ? value[0] : value);
}

function toObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function messageOf({ message, Message: awsMessage, detail }: JsonObject): string | undefined {
  const text = [message, awsMessage, detail].find(isSaid);
  if (text !== undefined) return text;
  const faults = Array.isArray(detail) ? detail : isJsonObject(message) && Array.isArray(message.detail) ? message.detail : [];
  const said = faults.filter(isJsonObject).map(({ loc, msg }) => `${Array.isArray(loc) ? loc.join('.') : ''}: ${String(msg)}`);
  return said.length === 0 ? undefined : said.join('; ');
}

/** The vendor's own word for what went wrong. */
function codeOf({ code, status, type }: JsonObject, headers: Readonly<Record<string, string>>): string | null {
  const awsType = headers['x-amzn-errortype']?.split(':')[0];
  return [code, status, awsType, type].find(isSaid) ?? null;
}

/** Google answers 400 to a key it does not know. */
function isBadKey({ details }: JsonObject): boolean {
  return Array.isArray(details) && details.some((each) => isJsonObject(each) && each.reason === 'API_KEY_INVALID');
}

/** Google says in the error how long to wait, such as `34.07s`. */
function retryDelayOf({ details }: JsonObject): number | undefined {
  for (const each of Array.isArray(details) ? details.filter(isJsonObject) : []) {
    const [, seconds] = /^(\d{1,9}(?:\.\d+)?)s$/.exec(String(each.retryDelay)) ?? [];
    if (seconds !== undefined) return Math.ceil(Number(seconds));
  }
  return undefined;
}
