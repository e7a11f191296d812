import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { defaultJsonBounds, isJsonObject, type JsonBounds, JsonError } from '#base/json/json.ts';
import { parseJsonBytes } from '#base/json/raw-json.ts';
import { Pieces } from '#base/stream/pieces.ts';
import type { Clock } from '#base/time/clock.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { checkFields } from '#contract/errors/request-error.ts';
import type { BoundKeys } from '#domain/callers/bound-key.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { createUnauthorizedError, type Identify } from '#domain/callers/identify.ts';
import { rejectPerRequestKey } from '#domain/callers/per-request-keys.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import type { RecordAudit } from '#domain/usage/journal.ts';

const wellFormedId = /^[\w.:-]{1,128}$/;
/** Lengths of the header names that carry credentials. */
const credentialNameLengths: ReadonlySet<number> = new Set(['authorization', 'api-key', 'x-api-key'].map(({ length }) => length));
const largeBodyBytes = 1024 ** 2;
const bearer = /^bearer +(\S.*)$/i;

/** Headers that Node joins if they are repeated, so that they are never arrays. */
export type JoinedHeaders = Readonly<Record<string, string | undefined>>;

/** Returns the client's `X-Request-Id` if it is well-formed, otherwise a new ID. */
export function getRequestId(request: IncomingMessage, newId: () => string): string {
  const header = request.headers['x-request-id'];
  return typeof header === 'string' && wellFormedId.test(header) ? header : newId();
}

/**
 * Returns whether an HTTP/1.0 request uses chunked encoding (RFC 9112, 6.1). A proxy could detect the end of its body elsewhere.
 */
export function isChunkedHttp10(httpVersion: string, transferEncoding: string | undefined): boolean {
  return transferEncoding !== undefined && httpVersion === '1.0';
}

/**
 * Returns whether the request has more than one `Host` header. Node uses the first, but a proxy in front of Parley may have used
 * another (RFC 9112, 3.2).
 */
export function hasSeveralHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

/**
 * Returns the key or token of a request (docs/wire.md, Credentials). Throws `missing_credentials`, or `ambiguous_credentials` if
 * two values differ. Ignores `x-api-key` unless `acceptsXApiKey` is set. Checks raw headers, because `headers` drops or joins
 * duplicates.
 */
export function readCredentials(request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>, acceptsXApiKey = false): string {
  const { headers, rawHeaders } = request;
  let credentials = headers.authorization === undefined ? undefined : bearer.exec(headers.authorization.trim())?.[1];
  let source = 'Authorization';
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [fieldName, value] = [rawHeaders[index] as string, rawHeaders[index + 1] as string];
    if (!credentialNameLengths.has(fieldName.length)) continue;
    const name = fieldName.toLowerCase();
    if (name === 'authorization') {
      if (value !== headers.authorization) throw ambiguous('Authorization', fieldName);
    } else if (value !== '' && isKeyField(name, acceptsXApiKey)) {
      if (credentials === undefined) [credentials, source] = [value, fieldName];
      else if (value !== credentials) throw ambiguous(source, fieldName);
    }
  }
  if (credentials !== undefined) return credentials;
  throw createUnauthorizedError(
    'missing_credentials',
    'Send a key as "Api-Key: <key>" or "Authorization: Bearer <key or token>".',
  );
}

function isKeyField(name: string, acceptsXApiKey: boolean): boolean {
  return name === 'api-key' || (acceptsXApiKey && name === 'x-api-key');
}

function ambiguous(first: string, second: string): ParleyError {
  const conflict =
    first.toLowerCase() === second.toLowerCase()
      ? `The request has two ${first} fields with different credentials.`
      : `${first} and ${second} contain different credentials.`;
  return new ParleyError('ambiguous_credentials', `${conflict} Send only one of them.`);
}

/** Throws `payload_too_large` if the announced length exceeds the limit, before the body is read. */
export function rejectLargeBody(request: IncomingMessage, maxBytes: number): void {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) throw bodyTooLarge(maxBytes);
}

/** Throws `unsupported_media_type` unless the body is JSON without a content encoding. */
export function requireJson({ headers }: IncomingMessage): void {
  const { 'content-type': type = '', 'content-encoding': encoding } = headers;
  if (type !== 'application/json') requireJsonType(type);
  if (encoding !== undefined) requirePlain(headers);
}

/** Throws `unsupported_media_type` if the body has a content encoding. */
export function requirePlain({ 'content-encoding': encoding = 'identity' }: IncomingHttpHeaders): void {
  if (encoding !== 'identity')
    throw unsupported(`The content encoding "${encoding.slice(0, 100)}" is not supported. Send the body without an encoding.`);
}

/** Charsets of valid JSON. JSON is UTF-8 (RFC 8259, 8.1), and US-ASCII is a subset of it. */
const jsonCharsets: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii']);

function requireJsonType(type: string): void {
  if (stripParameters(type) !== 'application/json') throw unsupportedType('application/json', type);
  const [, charset] = /;\s*charset\s*=\s*["']?([^"';\s]*)/i.exec(type) ?? [];
  if (charset !== undefined && !jsonCharsets.has(charset.toLowerCase()))
    throw unsupported(
      `The charset "${charset.slice(0, 100)}" is not supported. Send JSON in UTF-8 as application/json without a charset.`,
    );
}

/** Returns whether a body without a content encoding has this media type. Throws `unsupported_media_type` for an encoding. */
export function isPlainType({ headers }: IncomingMessage, type: string): boolean {
  if (stripParameters(headers['content-type'] ?? '') !== type) return false;
  requirePlain(headers);
  return true;
}

/** Returns a media type in lower case, without its parameters. */
function stripParameters(type: string): string {
  const [essence = ''] = type.split(';', 1);
  return essence.trim().toLowerCase();
}

/** Returns the 415 error for a body with an unsupported media type. */
export function unsupportedType(accepted: string, type: string): ParleyError {
  return unsupported(
    `The body must be ${accepted}, ${type ? `not "${type.slice(0, 100)}"` : 'but the request has no Content-Type'}.`,
  );
}

function unsupported(message: string): ParleyError {
  return new ParleyError('unsupported_media_type', message);
}

interface BodyOptions {
  /** Returns a signal that ends the reading. */
  readonly signal?: () => AbortSignal;
  /** Called when a body takes further bytes beyond the first MiB. An error that it throws ends the reading. */
  readonly onLargeBody?: ((bytes: number) => void) | undefined;
}

/**
 * Returns the complete body, synchronously if it is already buffered. Throws `payload_too_large` as soon as the body exceeds the
 * limit, the reason of the signal if it aborts, and the errors of `onLargeBody`.
 */
export function readBody(request: IncomingMessage, maxBytes: number, options: BodyOptions = {}): Buffer | Promise<Buffer> {
  request.on('error', ignore);
  const { headers, readableLength } = request;
  const isBuffered = readableLength > 0 && readableLength === Number(headers['content-length']);
  if (!isBuffered) return gatherBody(request, maxBytes, options);
  // A small body usually arrives together with its headers. The length is passed because `read()` in Node 26 otherwise returns
  // only the first of several chunks.
  const body: Buffer = request.read(readableLength);
  // The server must receive the end of the body.
  request.resume();
  if (body.length > maxBytes) throw bodyTooLarge(maxBytes);
  return body;
}

function gatherBody(request: IncomingMessage, maxBytes: number, options: BodyOptions): Promise<Buffer> {
  const signal = options.signal?.();
  let countedBytes = largeBodyBytes;
  // An announced length is counted before the body arrives. Other bodies are counted in steps of at least 1 MiB.
  const count = (bytes: number): void => {
    if (bytes <= countedBytes) return;
    const addedBytes = Math.max(bytes - countedBytes, largeBodyBytes);
    options.onLargeBody?.(addedBytes);
    countedBytes += addedBytes;
  };
  return new Promise((resolve, reject) => {
    // The events may have fired before the listeners below are attached.
    if (signal?.aborted === true) return reject(signal.reason);
    if (request.destroyed && !request.complete) return reject(connectionClosed());
    count(Number(request.headers['content-length'] ?? 0));
    const pieces = new Pieces();
    // The request is retained as long as its response. Removing the listeners lets the body be freed earlier.
    const finish = (): void => {
      request.off('data', onData).off('end', end).off('close', fail);
      signal?.removeEventListener('abort', fail);
    };
    const onData = (piece: Buffer): void => {
      pieces.add(piece);
      try {
        if (pieces.bytes > maxBytes) throw bodyTooLarge(maxBytes);
        count(pieces.bytes);
      } catch (error) {
        finish();
        reject(error);
      }
    };
    const end = (): void => {
      finish();
      const body = pieces.takeBytes();
      if (isLargeBody(body.length)) setImmediate(resolve, body);
      else resolve(body);
    };
    const fail = (): void => {
      finish();
      reject(signal?.reason ?? connectionClosed());
    };
    request.on('data', onData).on('end', end).on('close', fail);
    signal?.addEventListener('abort', fail);
  });
}

/**
 * Returns whether joining, parsing, and checking a body take so long that each needs its own turn of the event loop. Read the length
 * before `parseBody`, which can free the bytes.
 */
export function isLargeBody(bytes: number): boolean {
  return bytes > largeBodyBytes;
}

function connectionClosed(): ParleyError {
  return new ParleyError('invalid_request', 'The connection closed before the end of the body.');
}

/** Listener for errors of a request whose client disconnects later. Without a listener, they would end the process. */
function ignore(): void {}

/** Returns the 413 error for a body that exceeds a limit. */
export function bodyTooLarge(maxBytes: number): ParleyError {
  return new ParleyError('payload_too_large', `The body exceeds the limit of ${maxBytes} bytes.`);
}

/** Parses a JSON body. Keys named `__proto__` are rejected unless `allowsProto` is set. Throws `invalid_json`. */
export function parseBody(bytes: Buffer, bounds: Partial<JsonBounds> = {}): unknown {
  if (bytes.length === 0) throw new ParleyError('invalid_json', 'The body is empty. Send JSON.');
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    throw new ParleyError('invalid_json', 'The body starts with a byte order mark (BOM). Send UTF-8 without one.');
  try {
    return parseJsonBytes(bytes, { ...defaultJsonBounds, ...bounds });
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause;
    throw new ParleyError('invalid_json', `The body cannot be read: ${cause.message}.`, { cause });
  }
}

const modelAlone: ReadonlySet<string> = new Set(['model']);
const missingModel = 'model must name a deployment. GET /v1/models lists the deployments that you may use.';

/**
 * Returns the deployment that `model` in the body names. Throws `invalid_request` if the body is not a JSON object, or if `model` is
 * missing, not a string, or spelled with uppercase letters. `message` is the error message for a missing name.
 */
export function readModel(body: unknown, message = missingModel): string {
  if (!isJsonObject(body)) throw new ParleyError('invalid_request', 'The body must be a JSON object.');
  const { model } = body;
  if (typeof model === 'string' && model !== '') return model;
  if (model === undefined) checkFields(body, modelAlone);
  throw new ParleyError('invalid_request', message, { param: 'model' });
}

/** Dependencies of most surfaces. */
export interface SurfaceDeps {
  readonly identify: Identify;
  readonly snapshot: () => ConfigSnapshot;
  readonly clock: Clock;
  readonly recordAudit: RecordAudit;
}

type IdentifyDeps = Pick<SurfaceDeps, 'identify'>;

/** Returns the caller of a request. Throws the errors of `readCredentials` and `identify`. */
export async function identifyCaller(
  { identify }: IdentifyDeps,
  { raw }: FastifyRequest,
  boundKeys?: BoundKeys,
): Promise<Caller> {
  return identify(readCredentials(raw), raw, boundKeys);
}

/** Returns a caller that is not an application. Throws `access_denied` for per-request keys, with the action in the message. */
export async function identifyUser(deps: IdentifyDeps, request: FastifyRequest, action: string): Promise<Caller> {
  const caller = await identifyCaller(deps, request);
  rejectPerRequestKey(caller, action);
  return caller;
}

interface ReadOptions extends Partial<JsonBounds>, Pick<BodyOptions, 'onLargeBody'> {
  readonly maxBytes: number;
}

/** Returns the parsed JSON body. Throws `unsupported_media_type`, `payload_too_large`, or `invalid_json`. */
export async function readJson(request: FastifyRequest, options: ReadOptions): Promise<unknown> {
  return (await readUnparsedJson(request, options))();
}

/**
 * Returns the caller, and a function that parses the JSON body. Checks, in this order: announced size, caller, media type, and
 * size.
 */
export async function readRequest<Identity>(request: FastifyRequest, options: ReadOptions, identify: () => Promise<Identity>) {
  rejectLargeBody(request.raw, options.maxBytes);
  const caller = await identify();
  return { caller, body: await readUnparsedJson(request, options) };
}

/** The body is parsed later, so that callers can check the path and the headers first. */
async function readUnparsedJson(
  { raw }: FastifyRequest,
  { maxBytes, onLargeBody, ...bounds }: ReadOptions,
): Promise<() => unknown> {
  requireJson(raw);
  const bytes = await readBody(raw, maxBytes, { onLargeBody });
  return () => parseBody(bytes, bounds);
}

/** Returns a signal that aborts when the client disconnects or when the response is complete. */
export function createDisconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => controller.abort(new Error('the client closed the connection')));
  return controller.signal;
}
