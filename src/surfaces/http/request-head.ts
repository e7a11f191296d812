import type { IncomingMessage } from 'node:http';
import { ParleyError } from '#contract/errors.ts';
import { unauthorized } from '#domain/callers/identify.ts';

const wellFormedId = /^[\w.:-]{1,128}$/;
/** Of the fields that carry credentials. */
const lengthsOfNames: ReadonlySet<number> = new Set(['authorization', 'api-key', 'x-api-key'].map(({ length }) => length));
const bearer = /^bearer +(\S.*)$/i;

/** The caller's `X-Request-Id` if it is well-formed, else a new one. */
export function requestIdOf(request: IncomingMessage, newId: () => string): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && wellFormedId.test(given) ? given : newId();
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
 * `x-api-key` counts only if it is taken. Fields that come twice are looked at one by one: of these `headers` drops or joins.
 */
export function readCredentials(request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>, takesXApiKey = false): string {
  const { headers, rawHeaders } = request;
  let credentials = headers.authorization === undefined ? undefined : bearer.exec(headers.authorization.trim())?.[1];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [given, value] = [rawHeaders[at] as string, rawHeaders[at + 1] as string];
    if (!lengthsOfNames.has(given.length)) continue;
    const name = given.toLowerCase();
    if (name === 'authorization') {
      if (value !== headers.authorization) throw ambiguous(takesXApiKey);
    } else if (value !== '' && (name === 'api-key' || (takesXApiKey && name === 'x-api-key'))) {
      credentials ??= value;
      if (value !== credentials) throw ambiguous(takesXApiKey);
    }
  }
  if (credentials !== undefined) return credentials;
  throw unauthorized('missing_credentials', 'Send a key as "Api-Key: <key>" or "Authorization: Bearer <key or token>".');
}

function ambiguous(takesXApiKey: boolean): ParleyError {
  const names = takesXApiKey ? 'Api-Key, x-api-key and Authorization' : 'Api-Key and Authorization';
  return new ParleyError('ambiguous_credentials', `${names} carry different credentials; send one of them, once.`);
}
