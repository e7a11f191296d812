import { HttpError, type HttpRequest } from './client.ts';

/** Which bytes may stand in the name of a header field (RFC 9110, 5.6.2), and which in its value: for what is sent and what is received. */
export const [inName, inValue] = [toCharTable(/[!#$%&'*+\-.^_`|~0-9A-Za-z]/), toCharTable(/[\t -~\x80-\xff]/)];

/** Header fields that belong to one connection (RFC 9110, 7.6.1), in lower case. */
const hopByHopNames = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const plainConnectionValues = new Set(['', 'keep-alive', 'close']);

/** Where a run of such bytes that begins at `from` ends: at a line end, or at what may not be there. */
export function findEnd(table: Uint8Array, text: string, from: number): number {
  let at = from;
  while (at < text.length && table[text.charCodeAt(at)] === 1) at++;
  return at;
}

/** Whether a header field may have the name. */
export function isFieldName(name: string): boolean {
  return name !== '' && findEnd(inName, name, 0) === name.length;
}

/** Whether a header field may have the value. */
export function isFieldValue(value: string): boolean {
  return findEnd(inValue, value, 0) === value.length;
}

function toCharTable(chars: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (chars.test(String.fromCharCode(code)) ? 1 : 0));
}

/** What the client writes itself. */
export const ownFields: ReadonlySet<string> = new Set(['host', 'content-length', 'connection', 'transfer-encoding']);

/** Names that were found good; few are ever sent. */
const validNames = new Set<string>();
const maxValidNames = 1000;

/** Why the request may not be written to a socket, or null. Guards against header injection and a second framing. */
export function findUnsendableError(request: HttpRequest): HttpError | null {
  const { protocol } = request.url;
  if (protocol !== 'http:' && protocol !== 'https:') return new HttpError('unsendable', `cannot speak ${protocol}`);
  const { headers } = request;
  for (const name in headers) {
    if (!validNames.has(name)) {
      if (!isFieldName(name) || ownFields.has(name.toLowerCase()))
        return new HttpError('unsendable', `header name may not be sent: ${JSON.stringify(name.slice(0, 80))}`);
      if (validNames.size < maxValidNames) validNames.add(name);
    }
    const value = headers[name] ?? '';
    if (findEnd(inValue, value, 0) < value.length)
      return new HttpError('unsendable', `header ${name} has a character that may not be sent`);
  }
  return null;
}

/** Tells which fields, by names in lower case, are not to be passed on; `connection` is the field that can name more of them. */
export function getHopByHopFields(connection: string | undefined): { has(name: string): boolean } {
  if (connection === undefined || plainConnectionValues.has(connection.trim().toLowerCase())) return hopByHopNames;
  return new Set([...hopByHopNames, ...connection.split(',').map((name) => name.trim().toLowerCase())]);
}

/**
 * Returns whether a header field, by its name in lower case, belongs to one of the families. A family is the beginning of names up to and with a
 * hyphen: `x-sendfile-` has `x-sendfile` and `x-sendfile-type`. Underscores count as hyphens, since servers behind CGI cannot tell them apart.
 */
export function isInFamily(name: string, families: ReadonlySet<string>): boolean {
  const ended = `${name.replaceAll('_', '-')}-`;
  for (let at = ended.indexOf('-'); at !== -1; at = ended.indexOf('-', at + 1))
    if (families.has(ended.slice(0, at + 1))) return true;
  return false;
}
