import type { ReplyHeaders } from './client.ts';
import { endOf, inName, inValue } from './header-fields.ts';

const MAX_FIELDS = 256;
const COLON = 58;
const SPACE = 32;
const TAB = 9;
const DEFAULT_KEEP_ALIVE_MS = 4000;
const KEEP_ALIVE_MARGIN_MS = 1000;
const MAX_KEEP_ALIVE_MS = 600_000;

/** Fields that say where a body ends: they stand in the head, and once. */
const ofFraming: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);
const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t -~\x80-\xff]*)?$/;
const contentLength = /^\d{1,15}$/;
const closeToken = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;
const keepAliveToken = /(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/i;
const keepAliveSeconds = /(?:^|[,; \t])timeout[ \t]*=[ \t]*"?(\d{1,9})/i;

/** The fields of no head. */
export const noHeaders: ReplyHeaders = Object.freeze(Object.create(null));

/** How the end of a body is found (RFC 9112, 6.3). */
type Framing = 'none' | 'length' | 'chunked' | 'close';

export interface ReplyHead {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly framing: Framing;
  /** Of the body, with framing `length`. */
  readonly length: number;
  /** How long the connection may be kept idle afterwards: a second less than the server says, 4 s by default; 0 for not at all. */
  readonly keepAliveMs: number;
}

/** Reads a head: status line and fields, between `at` and `end`, without the empty line. Gives what is wrong with it as text. */
export function readHead(text: string, at: number, end: number): ReplyHead | string {
  const lineEnd = text.indexOf('\r\n', at);
  const line = statusLine.exec(text.slice(at, lineEnd));
  if (line === null) return 'not an HTTP/1 status line';
  const headers: Record<string, string> = Object.create(null);
  const wrong = readFields(text, lineEnd + 2, end, headers);
  if (wrong !== null) return wrong;
  return frame(Number(line[2]), line[1] === '0', headers);
}

/** Reads the lines between `at` and `end` into `headers`, if there is one. Gives what is wrong with them. */
export function readFields(text: string, at: number, end: number, headers: Record<string, string> | null): string | null {
  let lineStart = at;
  for (let count = 0; lineStart < end; count++) {
    if (count === MAX_FIELDS) return 'too many header fields';
    const colon = endOf(inName, text, lineStart);
    if (colon === lineStart || text.charCodeAt(colon) !== COLON) return nameFault(text.slice(lineStart, end));
    const lineEnd = endOf(inValue, text, colon + 1);
    if (!text.startsWith('\r\n', lineEnd)) return 'a header value has a character that may not be there';
    const name = text.slice(lineStart, colon).toLowerCase();
    const isRepeated = headers === null || name in headers;
    if (isRepeated && ofFraming.has(name)) return headers === null ? `${name} in a trailer` : `two ${name} fields`;
    const value = sliceTrimmed(text, colon + 1, lineEnd);
    if (headers !== null) headers[name] = isRepeated ? `${headers[name]}, ${value}` : value;
    lineStart = lineEnd + 2;
  }
  return null;
}

/** Only space and tab are stripped: `String.trim` would take a no-break space too. */
function sliceTrimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && (text.charCodeAt(start) === SPACE || text.charCodeAt(start) === TAB)) start++;
  while (end > start && (text.charCodeAt(end - 1) === SPACE || text.charCodeAt(end - 1) === TAB)) end--;
  return text.slice(start, end);
}

function nameFault(lines: string): string {
  const [line = ''] = lines.split('\r\n', 1);
  return line.includes(':') ? 'a header name has a character that may not be there' : 'a header line has no colon';
}

function frame(status: number, isHttp10: boolean, headers: ReplyHeaders): ReplyHead | string {
  const encoding = headers['transfer-encoding'];
  const length = headers['content-length'];
  if (encoding !== undefined) {
    if (length !== undefined) return 'content-length and transfer-encoding together';
    if (isHttp10) return 'transfer-encoding in HTTP/1.0';
    if (encoding.toLowerCase() !== 'chunked') return 'a transfer-encoding other than chunked';
  }
  if (length !== undefined && !contentLength.test(length)) return 'content-length is not a number';
  const isUsual = headers.connection === undefined && headers['keep-alive'] === undefined && !isHttp10;
  const keepAliveMs = isUsual ? DEFAULT_KEEP_ALIVE_MS : toKeepAliveMs(headers, isHttp10);
  if (status < 200 || status === 204 || status === 304) {
    if (encoding !== undefined || (status !== 304 && Number(length ?? 0) > 0)) return `a body announced with status ${status}`;
    return { status, headers, framing: 'none', length: 0, keepAliveMs };
  }
  if (encoding !== undefined) return { status, headers, framing: 'chunked', length: 0, keepAliveMs };
  if (length !== undefined) return { status, headers, framing: 'length', length: Number(length), keepAliveMs };
  return { status, headers, framing: 'close', length: 0, keepAliveMs: 0 };
}

function toKeepAliveMs(headers: ReplyHeaders, isHttp10: boolean): number {
  const connection = headers.connection;
  if (connection === undefined) {
    if (isHttp10) return 0;
  } else if (closeToken.test(connection) || (isHttp10 && !keepAliveToken.test(connection))) return 0;
  const hint = headers['keep-alive'];
  if (hint === undefined) return DEFAULT_KEEP_ALIVE_MS;
  const seconds = keepAliveSeconds.exec(hint);
  if (seconds === null) return DEFAULT_KEEP_ALIVE_MS;
  return Math.min(Math.max(Number(seconds[1]) * 1000 - KEEP_ALIVE_MARGIN_MS, 0), MAX_KEEP_ALIVE_MS);
}
