import { HttpFault, type HttpRequest } from './client.ts';
import { isFieldName, isFieldValue } from './field-chars.ts';

/** What the client writes itself. */
export const ownFields: ReadonlySet<string> = new Set(['host', 'content-length', 'connection', 'transfer-encoding']);

/** Why the request may not be written to a socket, or null. Guards against header injection and a second framing. */
export function unsendableFault(request: HttpRequest): HttpFault | null {
  const { protocol } = request.url;
  if (protocol !== 'http:' && protocol !== 'https:') return new HttpFault('unsendable', `cannot speak ${protocol}`);
  const { headers } = request;
  for (const name in headers) {
    if (!isFieldName(name) || ownFields.has(name.toLowerCase()))
      return new HttpFault('unsendable', `header name may not be sent: ${JSON.stringify(name.slice(0, 80))}`);
    const value = headers[name] ?? '';
    if (!isFieldValue(value)) return new HttpFault('unsendable', `header ${name} has a character that may not be sent`);
  }
  return null;
}
