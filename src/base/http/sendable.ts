import { HttpFault, type HttpRequest } from './client.ts';
import { endOf, inValue, isFieldName } from './field-chars.ts';

/** What the client writes itself. */
export const ownFields: ReadonlySet<string> = new Set(['host', 'content-length', 'connection', 'transfer-encoding']);

/** Names that were found good; few are ever sent. */
const goodNames = new Set<string>();
const mostGoodNames = 1000;

/** Why the request may not be written to a socket, or null. Guards against header injection and a second framing. */
export function unsendableFault(request: HttpRequest): HttpFault | null {
  const { protocol } = request.url;
  if (protocol !== 'http:' && protocol !== 'https:') return new HttpFault('unsendable', `cannot speak ${protocol}`);
  const { headers } = request;
  for (const name in headers) {
    if (!goodNames.has(name)) {
      if (!isFieldName(name) || ownFields.has(name.toLowerCase()))
        return new HttpFault('unsendable', `header name may not be sent: ${JSON.stringify(name.slice(0, 80))}`);
      if (goodNames.size < mostGoodNames) goodNames.add(name);
    }
    const value = headers[name] ?? '';
    if (endOf(inValue, value, 0) < value.length)
      return new HttpFault('unsendable', `header ${name} has a character that may not be sent`);
  }
  return null;
}
