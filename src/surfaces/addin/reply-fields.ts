import type { ReplyHeaders } from '#base/http/client.ts';
import { hopByHop } from '#base/http/hop-by-hop.ts';

/** Whether a field of the service's reply goes on to the caller as it is: no CORS field, no cookie; the name in lower case. */
export function isPassedDown(name: string): boolean {
  return !name.startsWith('access-control-') && name !== 'vary' && name !== 'set-cookie' && name !== 'set-cookie2';
}

/** `Vary` of a response: `Origin`, and what the service's reply varies by besides. */
export function toVary(vary: string | undefined): string {
  const others = (vary ?? '').split(',').map((name) => name.trim());
  return ['Origin', ...others.filter((name) => name !== '' && name.toLowerCase() !== 'origin')].join(', ');
}

/** The fields of the response to the caller, as names and values in turn. */
export function toCallerFields(headers: ReplyHeaders, cors: readonly string[]): string[] {
  const fields = [...cors, 'Vary', toVary(headers.vary)];
  const hops = hopByHop(headers.connection);
  for (const name in headers) if (isPassedDown(name) && !hops.has(name)) fields.push(name, headers[name] ?? '');
  return fields;
}
