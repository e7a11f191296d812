import type { IncomingHttpHeaders } from 'node:http';
import type { ReplyHeaders } from '#base/http/client.ts';
import type { ClientAddress } from '#base/http/client-address.ts';
import { getHopByHopFields } from '#base/http/header-fields.ts';
import { privateFields, toVary } from '../http/replies/header-fields.ts';

/** Headers of the connection between client and gateway. The connection to the service has its own. */
const framingHeaders = new Set(['host', 'content-length', 'expect']);

/** Headers that are never forwarded: credentials, cookies, and the client's claims about its address. */
const withheldHeaders = new Set(['authorization', 'api-key', 'x-api-key', 'cookie', 'cookie2', 'forwarded', 'x-real-ip']);

const bearer = /^bearer +(\S.*)$/i;

/** Returns the client's key: `x-api-key`, otherwise a bearer token (used by the current SDK), otherwise `Api-Key`. */
export function findClientKey(headers: IncomingHttpHeaders): string | undefined {
  return (
    getNonEmpty(headers['x-api-key']) ?? bearer.exec(headers.authorization?.trim() ?? '')?.[1] ?? getNonEmpty(headers['api-key'])
  );
}

/** Returns whether a request header is not forwarded to the service. The name must be in lowercase. */
export function isWithheld(name: string): boolean {
  return withheldHeaders.has(name) || name.startsWith('x-forwarded-');
}

/**
 * Returns the headers that the gateway sets, except `Host` (docs/addin.md), as alternating names and values. `x-api-key`
 * is sent empty.
 */
export function getGatewayFields(key: string | undefined, address: ClientAddress): string[] {
  const fields = ['x-api-key', '', 'X-Real-IP', address.realIp, 'X-Forwarded-For', address.forwardedFor];
  fields.push('X-Forwarded-Proto', address.proto);
  if (key !== undefined) fields.push('Api-Key', key);
  return fields;
}

/**
 * Returns the headers of the request to the service, except `Host` and framing, as alternating names and values. `raw` contains
 * the client's headers in the same form.
 */
export function toUpstreamFields(raw: readonly string[], headers: IncomingHttpHeaders, address: ClientAddress): string[] {
  const fields = getGatewayFields(findClientKey(headers), address);
  const hops = getHopByHopFields(headers.connection);
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [name = '', value = ''] = [raw[index], raw[index + 1]];
    const lower = name.toLowerCase();
    if (!isWithheld(lower) && !framingHeaders.has(lower) && !hops.has(lower)) fields.push(name, value);
  }
  return fields;
}

function getNonEmpty(field: string | string[] | undefined): string | undefined {
  const value = Array.isArray(field) ? field[0] : field;
  return value === '' ? undefined : value;
}

/**
 * Returns whether a response header of the service is forwarded unchanged. CORS headers, `Vary`, and cookies are not. The name
 * must be in lowercase.
 */
export function isForwardedToClient(name: string): boolean {
  return !name.startsWith('access-control-') && name !== 'vary' && name !== 'set-cookie' && name !== 'set-cookie2';
}

/**
 * Returns the value of `Vary`. Drops the service's value if it lists only credentials. That value would have no effect, because
 * shared caches must not store such responses.
 */
export function toGatewayVary(vary: string | undefined): string {
  return toVary(vary === privateFields.vary ? undefined : vary);
}

/** Returns the headers of the response to the client, as alternating names and values. */
export function toClientFields(headers: ReplyHeaders, cors: readonly string[]): string[] {
  const fields = [...cors, 'Vary', toGatewayVary(headers.vary)];
  const hops = getHopByHopFields(headers.connection);
  for (const name in headers) if (isForwardedToClient(name) && !hops.has(name)) fields.push(name, headers[name] ?? '');
  return fields;
}
