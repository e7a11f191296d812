import type { ReplyHeaders } from '#base/http/client.ts';
import { hopByHop } from '#base/http/hop-by-hop.ts';
import { toVary } from '../http/response-head.ts';

/** Whether a field of the service's reply goes on to the caller as it is: no CORS field, no cookie; the name in lower case. */
export function isPassedDown(name: string): boolean {
  return !name.startsWith('access-control-') && name !== 'vary' && name !== 'set-cookie' && name !== 'set-cookie2';
}

/** The fields of the response to the caller, as names and values in turn. */
export function toCallerFields(headers: ReplyHeaders, cors: readonly string[]): string[] {
  const fields = [...cors, 'Vary', toVary(headers.vary)];
  const hops = hopByHop(headers.connection);
  for (const name in headers) if (isPassedDown(name) && !hops.has(name)) fields.push(name, headers[name] ?? '');
  return fields;
}
