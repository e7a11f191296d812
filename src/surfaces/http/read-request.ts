import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { defaultJsonBounds, isJsonObject, JsonError } from '#base/json/json.ts';
import { parseJsonBytes } from '#base/json/raw-json.ts';
import { freeBytes } from '#base/text/bytes.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { refuseOtherCase } from '#contract/errors/request-error.ts';
import { unauthorized } from '#domain/callers/identify.ts';

const wellFormedId = /^[\w.:-]{1,128}$/;
/** Of the fields that carry credentials. */
const lengthsOfNames: ReadonlySet<number> = new Set(['authorization', 'api-key', 'x-api-key'].map(({ length }) => length));
const largeBodyBytes = 1024 ** 2;
const bearer = /^bearer +(\S.*)$/i;

/** The caller's `X-Request-Id` if it is well-formed, else a new one. */
export function getRequestId(request: IncomingMessage, newId: () => string): string {
  const header = request.headers['x-request-id'];
  return typeof header === 'string' && wellFormedId.test(header) ? header : newId();
}

/** Whether the framing of a body is faulty (RFC 9112, 6.1): others may end it elsewhere. */
export function isChunkedTooEarly(httpVersion: string, transferEncoding: string | undefined): boolean {
  return transferEncoding !== undefined && httpVersion === '1.0';
}

/** Node takes the first; who stands before this service may have taken another (RFC 9112, 3.2). */
export function hasSeveralHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

/**
 * The key or token a request carries (docs/wire.md, Credentials). Throws `missing_credentials`, or `ambiguous_credentials` if two differ.
 * `x-api-key` counts only if it is taken. Fields that come twice are looked at one by one, because `headers` drops or joins duplicates.
 */
export function readCredentials(request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>, takesXApiKey = false): string {
  const { headers, rawHeaders } = request;
  let credentials = headers.authorization === undefined ? undefined : bearer.exec(headers.authorization.trim())?.[1];
  let source = 'Authorization';
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [fieldName, value] = [rawHeaders[at] as string, rawHeaders[at + 1] as string];
    if (!lengthsOfNames.has(fieldName.length)) continue;
    const name = fieldName.toLowerCase();
    if (name === 'authorization') {
      if (value !== headers.authorization) throw ambiguous('Authorization', fieldName);
    } else if (value !== '' && isKeyField(name, takesXApiKey)) {
      if (credentials === undefined) [credentials, source] = [value, fieldName];
      else if (value !== credentials) throw ambiguous(source, fieldName);
    }
  }
  if (credentials !== undefined) return credentials;
  throw unauthorized('missing_credentials', 'Send a key as "Api-Key: <key>" or "Authorization: Bearer <key or token>".');
}

function isKeyField(name: string, takesXApiKey: boolean): boolean {
  return name === 'api-key' || (takesXApiKey && name === 'x-api-key');
}

function ambiguous(first: string, second: string): ParleyError {
  const conflict =
    first.toLowerCase() === second.toLowerCase()
      ? `The request has two ${first} fields with different credentials.`
      : `${first} and ${second} contain different credentials.`;
  return new ParleyError('ambiguous_credentials', `${conflict} Send only one of them.`);
}

/** Refuses a body whose announced length is over the limit, before anything of it is read. */
export function refuseLargeBody(request: IncomingMessage, maxBytes: number): void {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) throw tooLarge(maxBytes);
}

/** Refuses a body that is not announced as plain JSON. */
export function requireJson({ headers }: IncomingMessage): void {
  const { 'content-type': type = '', 'content-encoding': encoding } = headers;
  if (type !== 'application/json') requireJsonType(type);
  if (encoding !== undefined) requirePlain(headers);
}

/** Refuses a body that comes packed. */
export function requirePlain({ 'content-encoding': encoding = 'identity' }: IncomingHttpHeaders): void {
  if (encoding !== 'identity')
    throw unsupported(`The body must come without a content encoding, not as "${encoding.slice(0, 100)}".`);
}

/** JSON is UTF-8 (RFC 8259, 8.1), of which US-ASCII is a part. */
const jsonCharsets: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii']);

function requireJsonType(type: string): void {
  const [essence = ''] = type.split(';', 1);
  if (essence.trim().toLowerCase() !== 'application/json') throw refusedType('application/json', type);
  const [, charset] = /;\s*charset\s*=\s*["']?([^"';\s]*)/i.exec(type) ?? [];
  if (charset !== undefined && !jsonCharsets.has(charset.toLowerCase()))
    throw unsupported(`The body must be JSON in UTF-8, not in "${charset.slice(0, 100)}"; application/json needs no charset.`);
}

/** The 415 of a body that has another media type than the one that is taken. */
export function refusedType(accepted: string, type: string): ParleyError {
  return unsupported(`The body must be ${accepted}, not ${type ? `"${type.slice(0, 100)}"` : 'of no type'}.`);
}

function unsupported(message: string): ParleyError {
  return new ParleyError('unsupported_media_type', message);
}

/**
 * The bytes of the whole body, at once if they are there. Throws `payload_too_large` as soon as it grows over the limit, and the
 * signal's reason.
 */
export function readBody(request: IncomingMessage, maxBytes: number, signal?: () => AbortSignal): Buffer | Promise<Buffer> {
  request.on('error', ignore);
  const { headers, readableLength } = request;
  const isHere = readableLength > 0 && readableLength === Number(headers['content-length']);
  if (!isHere) return gatherBody(request, maxBytes, signal?.());
  // A small body usually arrives together with its head.
  // Without a length, Node 26 returns only the first of several pieces.
  const body: Buffer = request.read(readableLength);
  // The server still has to see the end of the body.
  request.resume();
  if (body.length > maxBytes) throw tooLarge(maxBytes);
  return body;
}

function gatherBody(request: IncomingMessage, maxBytes: number, signal?: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // Of what has happened already no event tells.
    if (signal?.aborted === true) return reject(signal.reason);
    if (request.destroyed && !request.complete) return reject(brokenOff());
    const pieces: Buffer[] = [];
    let bytes = 0;
    // The request lives as long as its answer: the listeners are removed, so that they do not keep the body.
    const finish = (): void => {
      request.off('data', onData).off('end', end).off('close', fail);
      signal?.removeEventListener('abort', fail);
    };
    const onData = (piece: Buffer): void => {
      bytes += piece.length;
      pieces.push(piece);
      if (bytes <= maxBytes) return;
      finish();
      reject(tooLarge(maxBytes));
    };
    const end = (): void => {
      finish();
      const body = toWhole(pieces, bytes);
      if (isLargeBody(bytes)) setImmediate(resolve, body);
      else resolve(body);
    };
    const fail = (): void => {
      finish();
      reject(signal?.reason ?? brokenOff());
    };
    request.on('data', onData).on('end', end).on('close', fail);
    signal?.addEventListener('abort', fail);
  });
}

/**
 * Returns whether joining, parsing, and checking a body take so long that each needs its own turn of the event loop. Take the length
 * before `parseBody`, which can free the bytes.
 */
export function isLargeBody(bytes: number): boolean {
  return bytes > largeBodyBytes;
}

function brokenOff(): ParleyError {
  return new ParleyError('invalid_request', 'The body broke off before its end.');
}

/** Joins the pieces and frees their memory at once, before the garbage collector would. */
function toWhole(pieces: readonly Buffer[], bytes: number): Buffer {
  const [first] = pieces;
  if (first?.length === bytes) return first;
  const body = Buffer.concat(pieces, bytes);
  pieces.forEach(freeBytes);
  return body;
}

/** A request whose caller leaves later emits an error; it is ignored. */
function ignore(): void {}

/** The 413 of a body over a limit. */
export function tooLarge(maxBytes: number): ParleyError {
  return new ParleyError('payload_too_large', `The body is larger than the ${maxBytes} bytes allowed here.`);
}

/** The value of a JSON body; keys named `__proto__` are refused unless the reader keeps such keys. Throws `invalid_json`. */
export function parseBody(bytes: Buffer, { allowsProto = false } = {}): unknown {
  if (bytes.length === 0) throw new ParleyError('invalid_json', 'The body is empty; it must be JSON.');
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    throw new ParleyError('invalid_json', 'The body starts with a byte order mark (BOM). Send UTF-8 without one.');
  try {
    return parseJsonBytes(bytes, { ...defaultJsonBounds, allowsProto });
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause;
    throw new ParleyError('invalid_json', `The body cannot be read: ${cause.message}.`, { cause });
  }
}

const modelAlone: ReadonlySet<string> = new Set(['model']);
const unnamed = 'model must name a deployment; GET /v1/models lists yours.';

/**
 * The deployment that a body names as its `model`. Throws invalid_request if the body is no JSON object, writes the key in
 * another case, or names none, which `message` then tells.
 */
export function readModel(body: unknown, message = unnamed): string {
  if (!isJsonObject(body)) throw new ParleyError('invalid_request', 'The body must be a JSON object.');
  const { model } = body;
  if (typeof model === 'string' && model !== '') return model;
  if (model === undefined) refuseOtherCase(body, modelAlone);
  throw new ParleyError('invalid_request', message, { param: 'model' });
}

/** The whole body, parsed when it is asked for, by the rules of `parseBody`. Throws `payload_too_large`; what it gives throws `invalid_json`. */
export async function readJsonBody(
  request: IncomingMessage,
  maxBytes: number,
  rules?: { readonly allowsProto: boolean },
): Promise<() => unknown> {
  const bytes = await readBody(request, maxBytes);
  return () => parseBody(bytes, rules);
}
