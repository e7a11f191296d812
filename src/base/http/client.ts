import type { LookupFunction } from 'node:net';
import type { Handle } from '../stream/sink.ts';

/** Header fields of a reply: lower-case names, repeated fields joined by ", ". A null-prototype object. */
export type ReplyHeaders = Readonly<Record<string, string>>;

export interface HttpTimeouts {
  /** Milliseconds until the connection (TLS included) stands. */
  readonly connectMs: number;
  /** Milliseconds from the request being sent, or from its reader standing still, to the first byte of the reply's content. */
  readonly firstByteMs: number;
  /** Milliseconds between two reads of the body; the time the exchange is paused does not count. */
  readonly idleMs: number;
}

/** Bytes, or latin1 text (one char a byte), whole or in pieces. Text is cheaper: it is copied for the kernel once, and needs no buffer. */
export type HttpBody = Buffer | string | readonly string[] | StreamedBody;

/**
 * A body that is sent as it comes, no faster than the other side reads it; on a connection of its own, and never anew. If it throws, the
 * exchange fails with the fault `body`, whose cause that is. A reply may come ahead of its end.
 */
export interface StreamedBody {
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Bytes in all; undefined: it is sent in chunks. */
  readonly length: number | undefined;
}

export function isStreamed(body: HttpBody | null): body is StreamedBody {
  return typeof body === 'object' && body !== null && 'pieces' in body;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute http: or https: address. */
  readonly url: URL;
  /** Names as they shall be sent; no `host`, `content-length`, `connection` or `transfer-encoding`: the client sets those. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent with `content-length`, if that is known; null for none. */
  readonly body: HttpBody | null;
  readonly timeouts: HttpTimeouts;
  /** Whether it does harm to send it twice. Else it is sent anew if a kept connection closes before a byte of a reply. */
  readonly isOnce?: boolean;
  /** Whether content that comes packed is passed on packed; default no. */
  readonly keepsEncoding?: boolean;
}

/**
 * Takes one reply. Order: `head`, then `bytes` any number of times, then `end`; `fail` may take the place of any next one, and is the last.
 * Nothing is called before `send` has returned. No method may throw.
 */
export interface ReplyListener {
  head(status: number, headers: ReplyHeaders): void;
  /** Content after transfer decoding, as latin1 text (one char a byte), never empty: all that one socket read brought. */
  bytes(text: string): void;
  end(): void;
  fail(error: HttpError): void;
}

/**
 * What the one who asked may do while the reply comes. `pause` stops reading the socket, from the head on; what was read
 * already (one read at most) may still come. `cancel` closes the connection if the reply was not whole.
 */
export interface Exchange extends Handle {
  /** Closes the connection unless the reply is whole so many milliseconds from now, however much of it still comes. */
  endWithin(ms: number): void;
}

/** An HTTP/1.1 client with kept-alive connections. One for the process. Follows no redirects. Content that came as gzip, br or deflate is unpacked; the header fields then say neither its encoding nor its length. */
export interface HttpClient {
  send(request: HttpRequest, listener: ReplyListener): Exchange;
  /** Closes idle connections, waits for no one. Running exchanges go on; nothing may be sent afterwards. */
  close(): void;
}

/** What both clients can be told when they are built. */
export interface HttpClientOptions {
  /** Trusted certificates in PEM. Absent: those of the process (its bundle, `NODE_EXTRA_CA_CERTS`). */
  readonly ca?: string;
  /** Finds the addresses of a host name; a guard can refuse some here. Absent: `dns.lookup`. Not asked for literal addresses. */
  readonly lookup?: LookupFunction;
}

/** `unsendable`: the request itself is at fault (a header with a line break, a protocol other than http). `body`: what the body comes from threw. `too_large`: the reader's own limit, see `readText`. */
export type HttpErrorKind =
  | 'connect'
  | 'connect_timeout'
  | 'first_byte_timeout'
  | 'idle_timeout'
  | 'closed'
  | 'malformed'
  | 'unsendable'
  | 'body'
  | 'too_large';

/** Why an exchange failed. `cause` holds what the socket said; it is for logs only. */
export class HttpError extends Error {
  readonly kind: HttpErrorKind;

  constructor(kind: HttpErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'HttpError';
    this.kind = kind;
  }
}
