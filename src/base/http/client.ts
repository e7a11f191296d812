import type { LookupFunction } from 'node:net';
import type { Handle } from '../stream/sink.ts';
import { toLatin1 } from '../text/bytes.ts';

/** Header fields of a reply in a null-prototype object. Names are in lower case. Repeated fields are joined by ", ". */
export type ReplyHeaders = Readonly<Record<string, string>>;

export interface HttpTimeouts {
  /** Maximum time to connect, including TLS, in milliseconds. */
  readonly connectMs: number;
  /**
   * Maximum time from the end of the request to the first byte of the reply's content, in milliseconds. Also limits how long a
   * server may pause reading a streamed body.
   */
  readonly firstByteMs: number;
  /** Maximum time between two reads of the body, in milliseconds. Pauses of the exchange do not count. */
  readonly idleMs: number;
}

/** Bytes, or latin1 text with one character per byte, complete or in pieces. Text is cheaper, because it needs no buffer. */
export type HttpBody = Buffer | string | readonly string[] | StreamedBody;

/**
 * A body that is sent piece by piece, no faster than the server reads it. It uses a new connection and is never resent. If the
 * iterable throws, the exchange fails with `HttpError` `body`, and the error is its `cause`. The reply may start before the body
 * ends.
 */
export interface StreamedBody {
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Total number of bytes. If undefined, the body is sent in chunks. */
  readonly length: number | undefined;
}

/** Longer bodies are written after the message head. Up to this size, joining both saves a write. */
export const maxJoinedBodyBytes = 12 * 1024;

/** Returns the UTF-8 bytes of a text, as latin1 if it is short enough to be joined with the message head. */
export function encodeBody(text: string): HttpBody {
  return text.length <= maxJoinedBodyBytes ? toLatin1(text) : Buffer.from(text);
}

export function isStreamed(body: HttpBody | null): body is StreamedBody {
  return typeof body === 'object' && body !== null && 'pieces' in body;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute http: or https: URL. */
  readonly url: URL;
  /** Names keep their case. Must not contain `host`, `content-length`, `connection`, or `transfer-encoding`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent with `content-length` if the length is known. */
  readonly body: HttpBody | null;
  readonly timeouts: HttpTimeouts;
  /** Whether the request must not be sent twice. All other requests are resent if a reused connection closes before the reply starts. */
  readonly isNotRepeatable?: boolean;
  /** Whether compressed content is passed on without decompression. Default: false. */
  readonly keepsEncoding?: boolean;
}

/**
 * Receiver of one reply: one call to `head`, then any number of calls to `bytes`, then `end`. At any point, `fail` may be called
 * instead and is the last call. No method is called before `send` returns. No method may throw.
 */
export interface ReplyListener {
  head(status: number, headers: ReplyHeaders): void;
  /** Content of one socket read after transfer decoding, as latin1 text (one character per byte). Never empty. */
  bytes(text: string): void;
  end(): void;
  fail(error: HttpError): void;
}

/**
 * Control over a request in progress. `pause` stops reading the socket after the head. Content that was already read, at most one
 * read, may still arrive. `cancel` closes the connection if the reply is incomplete.
 */
export interface Exchange extends Handle {
  /** Closes the connection after `ms` milliseconds unless the reply is complete by then, even if content still arrives. */
  endWithin(ms: number): void;
}

/**
 * HTTP/1.1 client with keep-alive connections to any number of origins. It does not follow redirects. It decompresses gzip, br, and
 * deflate, and then removes the content encoding and length from the header fields.
 */
export interface HttpClient {
  send(request: HttpRequest, listener: ReplyListener): Exchange;
  /** Closes idle connections without waiting. Exchanges in progress continue. `send` must not be called afterward. */
  close(): void;
}

export interface HttpClientOptions {
  /** Trusted certificates in PEM. Default: those of the process (its bundle and `NODE_EXTRA_CA_CERTS`). */
  readonly ca?: string;
  /** Resolves a host name. A guard can block addresses here. Default: `dns.lookup`. Not called for literal addresses. */
  readonly lookup?: LookupFunction;
}

/**
 * `closed`: the connection closed before the reply was complete. `malformed`: the reply is not valid HTTP, or its content cannot be
 * decompressed. `unsendable`: the request itself is invalid, for example because of a header with a line break or a protocol other than http and https.
 * `body`: the source of the request body threw. `too_large`: the reader's own limit was exceeded, see `readText`.
 */
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

/** Error that ends an exchange. `cause` holds the error of the socket and is for logs only. */
export class HttpError extends Error {
  readonly kind: HttpErrorKind;

  constructor(kind: HttpErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'HttpError';
    this.kind = kind;
  }
}
