import { HttpFault, type HttpRequest } from './client.ts';

const fieldName = /^(?!(?:host|content-length|connection|transfer-encoding)$)[!#$%&'*+\-.^_`|~0-9a-z]+$/i;
const notInValue = /[^\t -~\x80-\xff]/;

/** Why the request may not be written to a socket, or null. Guards against header injection and a second framing. */
export function unsendableFault(request: HttpRequest): HttpFault | null {
  const { protocol } = request.url;
  if (protocol !== 'http:' && protocol !== 'https:') return new HttpFault('unsendable', `cannot speak ${protocol}`);
  const { headers } = request;
  for (const name in headers) {
    if (!fieldName.test(name))
      return new HttpFault('unsendable', `header name may not be sent: ${JSON.stringify(name.slice(0, 80))}`);
    if (notInValue.test(headers[name] ?? ''))
      return new HttpFault('unsendable', `header ${name} has a character that may not be sent`);
  }
  return null;
}
