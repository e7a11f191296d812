import type { IncomingHttpHeaders } from 'node:http';
import type { ReplyHeaders } from '#base/http/client.ts';
import type { ClientAddress } from '#base/http/client-address.ts';
import { getHopByHopFields } from '#base/http/header-fields.ts';
import { privateFields, toVary } from '../http/replies/header-fields.ts';

/** Fields of the connection between caller and gateway; the one to the service has its own. */
const framing = new Set(['host', 'content-length', 'expect']);

/** Fields that nobody passes through the gateway: credentials, cookies, and what a caller says of its address. */
const withheld = new Set(['authorization', 'api-key', 'x-api-key', 'cookie', 'cookie2', 'forwarded', 'x-real-ip']);

const bearer = /^bearer +(\S.*)$/i;

/** The key of a caller: `x-api-key`, else a bearer token (the current SDK sends one), else `Api-Key`. */
export function callerKey(headers: IncomingHttpHeaders): string | undefined {
  return filled(headers['x-api-key']) ?? bearer.exec(headers.authorization?.trim() ?? '')?.[1] ?? filled(headers['api-key']);
}

/** Whether a field of a request is kept from the service; the name in lower case. */
export function isWithheld(name: string): boolean {
  return withheld.has(name) || name.startsWith('x-forwarded-');
}

/** The fields the gateway sets (docs/wire.md, Add-in) but for `Host`, as names and values in turn. `x-api-key` is sent empty. */
export function ownUpstreamFields(key: string | undefined, address: ClientAddress): string[] {
  const fields = ['x-api-key', '', 'X-Real-IP', address.realIp, 'X-Forwarded-For', address.forwardedFor];
  fields.push('X-Forwarded-Proto', address.proto);
  if (key !== undefined) fields.push('Api-Key', key);
  return fields;
}

/** The fields of the request to the service but for `Host` and framing, as names and values in turn; `raw` are the caller's in this form. */
export function toUpstreamFields(raw: readonly string[], headers: IncomingHttpHeaders, address: ClientAddress): string[] {
  const fields = ownUpstreamFields(callerKey(headers), address);
  const hops = getHopByHopFields(headers.connection);
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]];
    const lower = name.toLowerCase();
    if (!isWithheld(lower) && !framing.has(lower) && !hops.has(lower)) fields.push(name, value);
  }
  return fields;
}

function filled(field: string | string[] | undefined): string | undefined {
  const value = Array.isArray(field) ? field[0] : field;
  return value === '' ? undefined : value;
}

/** Whether a field of the service's reply goes on to the caller as it is: no CORS field, no cookie; the name in lower case. */
export function isPassedDown(name: string): boolean {
  return !name.startsWith('access-control-') && name !== 'vary' && name !== 'set-cookie' && name !== 'set-cookie2';
}

/** `Vary` of a response: what the service says of credentials is of no use here, since nobody may store what it is about. */
export function toGatewayVary(vary: string | undefined): string {
  return toVary(vary === privateFields.vary ? undefined : vary);
}

/** The fields of the response to the caller, as names and values in turn. */
export function toCallerFields(headers: ReplyHeaders, cors: readonly string[]): string[] {
  const fields = [...cors, 'Vary', toGatewayVary(headers.vary)];
  const hops = getHopByHopFields(headers.connection);
  for (const name in headers) if (isPassedDown(name) && !hops.has(name)) fields.push(name, headers[name] ?? '');
  return fields;
}
