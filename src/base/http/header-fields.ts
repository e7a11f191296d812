import { HttpError, type HttpRequest } from './client.ts';

/** Tables of the bytes that are allowed in a header field name (RFC 9110, 5.6.2) and in a header field value. */
export const [nameTable, valueTable] = [toCharTable(/[!#$%&'*+\-.^_`|~0-9A-Za-z]/), toCharTable(/[\t -~\x80-\xff]/)];

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

/** Returns the index of the first byte at or after `from` that is not allowed, or the length of the text. */
export function findEnd(table: Uint8Array, text: string, from: number): number {
  let at = from;
  while (at < text.length && table[text.charCodeAt(at)] === 1) at++;
  return at;
}

/** Returns whether the text is a valid header field name. */
export function isFieldName(name: string): boolean {
  return name !== '' && findEnd(nameTable, name, 0) === name.length;
}

/** Returns whether the text is a valid header field value. */
export function isFieldValue(value: string): boolean {
  return findEnd(valueTable, value, 0) === value.length;
}

function toCharTable(chars: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (chars.test(String.fromCharCode(code)) ? 1 : 0));
}

/** Header fields that `LeanClient` sets, so that a request must not contain them. */
export const ownFields: ReadonlySet<string> = new Set(['host', 'content-length', 'connection', 'transfer-encoding']);

/** Cache of valid names. Requests use only a few different names. */
const validNames = new Set<string>();
const maxValidNames = 1000;

/** Returns an error if the request must not be written to a socket, or null. Prevents header injection and a second framing. */
export function findUnsendableError(request: HttpRequest): HttpError | null {
  const { protocol } = request.url;
  if (protocol !== 'http:' && protocol !== 'https:') return new HttpError('unsendable', `unsupported protocol ${protocol}`);
  const { headers } = request;
  for (const name in headers) {
    if (!validNames.has(name)) {
      if (!isFieldName(name) || ownFields.has(name.toLowerCase()))
        return new HttpError('unsendable', `invalid or reserved header name ${JSON.stringify(name.slice(0, 80))}`);
      if (validNames.size < maxValidNames) validNames.add(name);
    }
    const value = headers[name] ?? '';
    if (!isFieldValue(value)) return new HttpError('unsendable', `header ${name} contains an invalid character`);
  }
  return null;
}

/** Returns the lower-case hop-by-hop fields, which must not be forwarded. The `Connection` field can name more of them. */
export function getHopByHopFields(connection: string | undefined): { has(name: string): boolean } {
  if (connection === undefined || plainConnectionValues.has(connection.trim().toLowerCase())) return hopByHopNames;
  return new Set([...hopByHopNames, ...connection.split(',').map((name) => name.trim().toLowerCase())]);
}

/**
 * Returns whether a header field belongs to one of the families. `name` is in lower case. A family is a name prefix that includes
 * a hyphen: `x-sendfile-` contains `x-sendfile` and `x-sendfile-type`. Underscores count as hyphens, because servers behind CGI
 * cannot distinguish them.
 */
export function isInFamily(name: string, families: ReadonlySet<string>): boolean {
  const ended = `${name.replaceAll('_', '-')}-`;
  for (let at = ended.indexOf('-'); at !== -1; at = ended.indexOf('-', at + 1))
    if (families.has(ended.slice(0, at + 1))) return true;
  return false;
}
