import type { ReplyHeaders } from './client.ts';
import { findEnd, nameTable, valueTable } from './header-fields.ts';

const maxHeadBytes = 64 * 1024;
const maxInterimHeads = 16;
const maxChunkLineBytes = 1024;
const maxSizeDigits = 16;
const crCode = 13;
const lfCode = 10;
const semicolonCode = 59;
const httpPrefix = 'HTTP/1.';

const chunkExtensions =
  /^(?:;[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:=(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+|"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"))?)+$/;
/** Value of each hexadecimal digit by character code, or -1 for other characters. */
const digits = Int8Array.from({ length: 128 }, (_, code) => '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()));

type State = 'head' | 'length' | 'close' | 'chunk-size' | 'chunk-data' | 'chunk-end' | 'trailers' | 'done' | 'failed';

/**
 * Parses one HTTP/1.1 reply from latin1 text that may be split anywhere. Stricter than RFC 9112 wherever two lenient parsers
 * could disagree: accepts only one framing and only CRLF, rejects folded lines, and limits the size of heads, chunk lines, and
 * trailers. After each `feed`, `status` is 0 until the final head has arrived, `content` holds the content of this call, and
 * `isDone` or `error` reports the end.
 */
export class ReplyParser {
  status = 0;
  /** The values are slices that keep the complete read in memory, so the reader must reset this field afterward. */
  headers: ReplyHeaders = noHeaders;
  content = '';
  error: string | null = null;
  isDone = false;
  /** Whether bytes followed the reply. They belong to no request, so the connection must not be reused. */
  hasSurplus = false;
  /** See `ReplyHead`. Valid once the reply is complete. */
  keepAliveMs = 0;
  #state: State = 'head';
  #remainder = '';
  /** Number of characters searched without a match, so that text that arrives byte by byte is not searched again. */
  #searched = 0;
  #remaining = 0;
  /** Number of bytes that the remaining trailers may have. */
  #trailerBudget = maxHeadBytes;
  #interimHeads = 0;

  /** Resets the parser for the next reply on the same connection. */
  reset(): void {
    this.status = 0;
    this.headers = noHeaders;
    this.content = '';
    this.error = null;
    this.isDone = false;
    this.hasSurplus = false;
    this.keepAliveMs = 0;
    this.#state = 'head';
    this.#remainder = '';
    this.#remaining = 0;
    this.#trailerBudget = maxHeadBytes;
    this.#interimHeads = 0;
  }

  feed(chunk: string): void {
    const text = this.#remainder === '' ? chunk : this.#remainder + chunk;
    this.content = '';
    this.#searched = this.#remainder.length;
    this.#remainder = '';
    let position = 0;
    while (position < text.length && this.#state !== 'done' && this.error === null) {
      switch (this.#state) {
        case 'head':
          position = this.#readHead(text, position);
          break;
        case 'chunk-size':
          position = this.#readChunkSize(text, position);
          break;
        case 'chunk-end':
          position = this.#readChunkEnd(text, position);
          break;
        case 'trailers':
          position = this.#readTrailer(text, position);
          break;
        case 'close':
          this.content = position === 0 ? text : text.slice(position);
          position = text.length;
          break;
        default:
          position = this.#readCounted(text, position);
      }
    }
    this.isDone = this.#state === 'done';
    if (this.isDone && position < text.length) this.hasSurplus = true;
  }

  /** Called when the server closes its side. Returns whether this completes the reply. */
  endInput(): boolean {
    if (this.#state === 'close') this.#state = 'done';
    this.isDone = this.#state === 'done';
    return this.isDone;
  }

  #readHead(text: string, at: number): number {
    const end = text.indexOf('\r\n\r\n', Math.max(at, this.#searched - 3));
    if (end === -1 || end - at > maxHeadBytes) return this.#readPartOfHead(text, at);
    const head = readHead(text, at, end);
    if (typeof head === 'string') return this.#fail(head, at);
    if (head.status < 200) return this.#passInterim(head, end + 4);
    this.status = head.status;
    this.headers = head.headers;
    this.keepAliveMs = head.keepAliveMs;
    this.#remaining = head.length;
    if (head.framing === 'chunked') this.#state = 'chunk-size';
    else if (head.framing === 'close') this.#state = 'close';
    else if (head.length > 0) this.#state = 'length';
    else this.#state = 'done';
    return end + 4;
  }

  #passInterim({ status, keepAliveMs }: ReplyHead, end: number): number {
    this.#interimHeads += 1;
    if (status === 101) return this.#fail('an unrequested upgrade', end);
    if (keepAliveMs === 0) return this.#fail('an interim reply that closes', end);
    return this.#interimHeads > maxInterimHeads ? this.#fail('too many interim replies', end) : end;
  }

  #readPartOfHead(text: string, at: number): number {
    const part = text.slice(at);
    if (part.length > maxHeadBytes) return this.#fail('the head is too large', at);
    if (!part.startsWith(httpPrefix.slice(0, part.length))) return this.#fail('not an HTTP/1 status line', at);
    if (hasBareLineEnd(text, Math.max(at, this.#searched - 1))) return this.#fail('a line ends without CR LF', at);
    return this.#storeRemainder(text, at);
  }

  #readCounted(text: string, at: number): number {
    const end = Math.min(text.length, at + this.#remaining);
    const piece = at === 0 && end === text.length ? text : text.slice(at, end);
    this.content = this.content === '' ? piece : this.content + piece;
    this.#remaining -= end - at;
    if (this.#remaining > 0) return end;
    if (this.#state === 'length') {
      this.#state = 'done';
      return end;
    }
    const isClosed = text.charCodeAt(end) === crCode && text.charCodeAt(end + 1) === lfCode;
    this.#state = isClosed ? 'chunk-size' : 'chunk-end';
    return isClosed ? end + 2 : end;
  }

  #readChunkSize(text: string, start: number): number {
    let at = start;
    let size = 0;
    for (let digit = digits[text.charCodeAt(at)] ?? -1; digit !== -1; digit = digits[text.charCodeAt(at)] ?? -1) {
      size = size * 16 + digit;
      at += 1;
    }
    if (at - start > maxSizeDigits || size > Number.MAX_SAFE_INTEGER) return this.#fail('a chunk is too large', start);
    if (at === text.length) return this.#storeRemainder(text, start);
    if (at === start) return this.#fail('a chunk has no size', start);
    const code = text.charCodeAt(at);
    if (code === semicolonCode) return this.#readExtensions(text, start, at, size);
    if (code === crCode && at + 1 === text.length) return this.#storeRemainder(text, start);
    if (code !== crCode || text.charCodeAt(at + 1) !== lfCode) return this.#fail('a chunk size is not a number', start);
    this.#remaining = size;
    this.#state = size === 0 ? 'trailers' : 'chunk-data';
    return at + 2;
  }

  #readExtensions(text: string, start: number, at: number, size: number): number {
    const end = text.indexOf('\r\n', at);
    if ((end === -1 ? text.length : end) - start > maxChunkLineBytes) return this.#fail('a chunk line is too long', start);
    if (end === -1) return this.#storeRemainder(text, start);
    if (!chunkExtensions.test(text.slice(at, end))) return this.#fail('a chunk extension is malformed', start);
    this.#remaining = size;
    this.#state = size === 0 ? 'trailers' : 'chunk-data';
    return end + 2;
  }

  #readChunkEnd(text: string, at: number): number {
    if (text.charCodeAt(at) !== crCode) return this.#fail('a chunk is longer than its size', at);
    if (at + 1 === text.length) return this.#storeRemainder(text, at);
    if (text.charCodeAt(at + 1) !== lfCode) return this.#fail('a chunk is longer than its size', at);
    this.#state = 'chunk-size';
    return at + 2;
  }

  #readTrailer(text: string, at: number): number {
    const end = text.indexOf('\r\n', Math.max(at, this.#searched - 1));
    if ((end === -1 ? text.length : end) - at > this.#trailerBudget) return this.#fail('the trailers are too large', at);
    if (end === -1) return this.#storeRemainder(text, at);
    this.#trailerBudget -= end + 2 - at;
    if (end === at) {
      this.#state = 'done';
      return end + 2;
    }
    const error = readFields(text, at, end, null);
    return error === null ? end + 2 : this.#fail(error, at);
  }

  #storeRemainder(text: string, at: number): number {
    this.#remainder = at === 0 ? text : text.slice(at);
    return text.length;
  }

  #fail(reason: string, at: number): number {
    this.#state = 'failed';
    this.error = reason;
    return at;
  }
}

function hasBareLineEnd(text: string, from: number): boolean {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === lfCode && text.charCodeAt(at - 1) !== crCode) return true;
    if (code === crCode && at + 1 < text.length && text.charCodeAt(at + 1) !== lfCode) return true;
  }
  return false;
}

const maxFields = 256;
const colonCode = 58;
const spaceCode = 32;
const tabCode = 9;
const defaultKeepAliveMs = 4000;
const keepAliveMarginMs = 1000;
const maxKeepAliveMs = 600_000;

/** Fields that determine the end of a body. They are allowed only in the head and only once. */
const framingFields: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);
const statusLinePattern = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t -~\x80-\xff]*)?$/;
const contentLengthPattern = /^\d{1,15}$/;
// Pattern bound: linear. The word after a run of spaces fails immediately inside the run.
const closeToken = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;
// Pattern bound: linear. The word after a run of spaces fails immediately inside the run.
const keepAliveToken = /(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/i;
// Pattern bound: linear. The word after a run of spaces fails immediately inside the run.
const keepAliveSeconds = /(?:^|[,; \t])timeout[ \t]*=[ \t]*"?(\d{1,9})/i;

/** Empty header fields. */
export const noHeaders: ReplyHeaders = Object.freeze(Object.create(null));

/** Method that determines the end of a body (RFC 9112, 6.3). */
type Framing = 'none' | 'length' | 'chunked' | 'close';

interface ReplyHead {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly framing: Framing;
  /** Length of the body with framing `length`. */
  readonly length: number;
  /** Maximum idle time of the connection in ms: 1 s less than the server's hint, at most 600 s, by default 4 s. 0 closes it. */
  readonly keepAliveMs: number;
}

/** Parses the status line and fields between `at` and `end`, without the empty line. Returns the error as text if invalid. */
function readHead(text: string, at: number, end: number): ReplyHead | string {
  const lineEnd = text.indexOf('\r\n', at);
  const line = statusLinePattern.exec(text.slice(at, lineEnd));
  if (line === null) return 'not an HTTP/1 status line';
  const headers: Record<string, string> = Object.create(null);
  const error = readFields(text, lineEnd + 2, end, headers);
  if (error !== null) return error;
  return toReplyHead(Number(line[2]), line[1] === '0', headers);
}

/** Parses the lines between `at` and `end` into `headers`, unless it is null. Returns the error as text, or null. */
function readFields(text: string, at: number, end: number, headers: Record<string, string> | null): string | null {
  let lineStart = at;
  for (let count = 0; lineStart < end; count++) {
    if (count === maxFields) return 'too many header fields';
    const colon = findEnd(nameTable, text, lineStart);
    if (colon === lineStart || text.charCodeAt(colon) !== colonCode) return toNameError(text.slice(lineStart, end));
    const lineEnd = findEnd(valueTable, text, colon + 1);
    if (!text.startsWith('\r\n', lineEnd)) return 'a header value has an invalid character';
    const name = text.slice(lineStart, colon).toLowerCase();
    const isRepeated = headers === null || name in headers;
    if (isRepeated && framingFields.has(name)) return headers === null ? `${name} in a trailer` : `two ${name} fields`;
    const value = sliceTrimmed(text, colon + 1, lineEnd);
    if (headers !== null) headers[name] = isRepeated ? `${headers[name]}, ${value}` : value;
    lineStart = lineEnd + 2;
  }
  return null;
}

/** Strips only spaces and tabs. `String.trim` would also strip no-break spaces. */
function sliceTrimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && (text.charCodeAt(start) === spaceCode || text.charCodeAt(start) === tabCode)) start++;
  while (end > start && (text.charCodeAt(end - 1) === spaceCode || text.charCodeAt(end - 1) === tabCode)) end--;
  return text.slice(start, end);
}

function toNameError(lines: string): string {
  const [line = ''] = lines.split('\r\n', 1);
  return line.includes(':') ? 'a header name has an invalid character' : 'a header line has no colon';
}

function toReplyHead(status: number, isHttp10: boolean, headers: ReplyHeaders): ReplyHead | string {
  const encoding = headers['transfer-encoding'];
  const length = headers['content-length'];
  if (encoding !== undefined) {
    if (length !== undefined) return 'content-length and transfer-encoding together';
    if (isHttp10) return 'transfer-encoding in HTTP/1.0';
    if (encoding.toLowerCase() !== 'chunked') return 'a transfer-encoding other than chunked';
  }
  if (length !== undefined && !contentLengthPattern.test(length)) return 'content-length is not a number';
  const isUsual = headers.connection === undefined && headers['keep-alive'] === undefined && !isHttp10;
  const keepAliveMs = isUsual ? defaultKeepAliveMs : toKeepAliveMs(headers, isHttp10);
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
  if (hint === undefined) return defaultKeepAliveMs;
  const seconds = keepAliveSeconds.exec(hint);
  if (seconds === null) return defaultKeepAliveMs;
  return Math.min(Math.max(Number(seconds[1]) * 1000 - keepAliveMarginMs, 0), maxKeepAliveMs);
}
