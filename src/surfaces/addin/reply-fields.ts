import type { ReplyHeaders } from '#base/http/client.ts';
import { hopByHop } from '#base/http/header-fields.ts';
import { privateFields } from '../http/replies/private-answer.ts';
import { toVary } from '../http/replies/response-head.ts';

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
  const hops = hopByHop(headers.connection);
  for (const name in headers) if (isPassedDown(name) && !hops.has(name)) fields.push(name, headers[name] ?? '');
  return fields;
}
