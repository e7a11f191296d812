import { HttpFault, type HttpRequest } from './client.ts';
import { endOf, inName, inValue } from './field-chars.ts';

/** What the client writes itself. */
export const ownFields: ReadonlySet<string> = new Set(['host', 'content-length', 'connection', 'transfer-encoding']);

/** Why the request may not be written to a socket, or null. Guards against header injection and a second framing. */
export function unsendableFault(request: HttpRequest): HttpFault | null {
  const { protocol } = request.url;
  if (protocol !== 'http:' && protocol !== 'https:') return new HttpFault('unsendable', `cannot speak ${protocol}`);
  const { headers } = request;
  for (const name in headers) {
    if (name === '' || endOf(inName, name, 0) < name.length || ownFields.has(name.toLowerCase()))
      return new HttpFault('unsendable', `header name may not be sent: ${JSON.stringify(name.slice(0, 80))}`);
    const value = headers[name] ?? '';
    if (endOf(inValue, value, 0) < value.length)
      return new HttpFault('unsendable', `header ${name} has a character that may not be sent`);
  }
  return null;
}
