import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import {
  type Exchange,
  HttpError,
  type HttpErrorKind,
  type HttpTimeouts,
  type ReplyHeaders,
  type ReplyListener,
} from '#base/http/client.ts';
import { LeanPool } from '#base/http/lean-client.ts';
import { type ConnectionTarget, toConnectionTarget } from '#base/http/lean-connection.ts';
import { LeanExchange } from '#base/http/lean-exchange.ts';
import type { Handle } from '#base/stream/sink.ts';
import { trimEnd } from '#base/text/truncate.ts';
import { Sweep } from '#base/time/sweep.ts';
import { setFields } from '../http/replies/header-fields.ts';

const readBufferBytes = 64 * 1024;

/** A model may need minutes before its first byte. Later, the pings of the service keep the stream active. */
const defaultTimeouts: HttpTimeouts = { connectMs: 10_000, firstByteMs: 600_000, idleMs: 300_000 };

/** A request to the service, without its body. */
export interface UpstreamRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query, unchanged from the client. */
  readonly target: string;
  /** All headers except `Host` and framing, as alternating names and values. */
  readonly fields: readonly string[];
}

/**
 * The service behind the gateway. Uses HTTP/1.1 over keep-alive connections, the service's own `Host`, and no `Connection`
 * header (docs/addin.md). The shared HTTP client would send that header.
 */
export class Upstream {
  readonly #url: URL;
  readonly #basePath: string;
  readonly #timeouts: HttpTimeouts;
  readonly #sweep = new Sweep();
  readonly #target: ConnectionTarget;
  readonly #pool: LeanPool;

  /** `url` is the base URL of the service. Its path is put before every target. */
  constructor(url: URL, timeouts: HttpTimeouts = defaultTimeouts) {
    this.#url = url;
    this.#basePath = trimEnd(url.pathname, '/');
    this.#timeouts = timeouts;
    this.#target = toConnectionTarget(url, Buffer.allocUnsafeSlow(readBufferBytes));
    this.#pool = new LeanPool(this.#target, this.#sweep);
  }

  /**
   * Sends a request with its complete body, or null for no body. If no response arrives, the request may be sent once more on a
   * new connection.
   */
  send(request: UpstreamRequest, body: Buffer | null, listener: ReplyListener): Exchange {
    const { method } = request;
    const fullRequest = { method, url: this.#url, headers: {}, body, timeouts: this.#timeouts, keepsEncoding: true };
    const exchange = new LeanExchange(fullRequest, this.#toHead(request, body), listener, this.#sweep);
    this.#pool.send(exchange);
    return exchange;
  }

  /** Starts a request with a streamed body. The body has the given length, or is chunked if the length is undefined. */
  upload({ method, target, fields }: UpstreamRequest, length: string | undefined, listener: ReplyListener): Upload {
    const framing = length === undefined ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', length];
    const allFields = ['Host', this.#url.host, ...fields, ...framing];
    const request = { ...this.#target, method, path: this.#basePath + target, fields: allFields };
    return new Upload(request, this.#timeouts, listener);
  }

  /** Closes idle connections. Requests in progress continue. */
  close(): void {
    this.#pool.close();
  }

  #toHead({ method, target, fields }: UpstreamRequest, body: Buffer | null): string {
    let head = `${method} ${this.#basePath}${target} HTTP/1.1\r\nHost: ${this.#url.host}\r\n`;
    for (let index = 0; index + 1 < fields.length; index += 2) head += `${fields[index]}: ${fields[index + 1]}\r\n`;
    if (body !== null) return `${head}Content-Length: ${body.length}\r\n\r\n`;
    return method === 'POST' ? `${head}Content-Length: 0\r\n\r\n` : `${head}\r\n`;
  }
}

/** A request whose body is streamed. */
interface UploadRequest extends Pick<ConnectionTarget, 'isSecure' | 'host' | 'port'> {
  readonly method: 'GET' | 'POST';
  /** Path and query. */
  readonly path: string;
  /** All headers, including `Host` and framing, as alternating names and values. */
  readonly fields: readonly string[];
}

/**
 * A request on its own connection with a streamed body, so that a large body is never buffered completely. It cannot be retried.
 * The response may arrive before the body has ended.
 */
export class Upload implements Handle {
  readonly #outgoing: ClientRequest;
  readonly #listener: ReplyListener;
  readonly #timeouts: HttpTimeouts;
  #reply: IncomingMessage | undefined;
  #timeoutKind: HttpErrorKind = 'connect_timeout';
  #hasEnded = false;

  constructor({ host, port, isSecure, method, path, fields }: UploadRequest, timeouts: HttpTimeouts, listener: ReplyListener) {
    this.#listener = listener;
    this.#timeouts = timeouts;
    const options = { host, port, method, path, timeout: timeouts.connectMs, agent: false, setHost: false };
    const outgoing = isSecure ? httpsRequest(options) : httpRequest(options);
    setFields(outgoing, fields);
    outgoing.removeHeader('Connection');
    outgoing.setNoDelay(true);
    outgoing.once('socket', (socket) => {
      socket.once(isSecure ? 'secureConnect' : 'connect', () => this.#setTimeout('first_byte_timeout', timeouts.firstByteMs));
    });
    outgoing.on('timeout', () => this.#fail(this.#timeoutKind));
    outgoing.on('error', (cause) => this.#fail(this.#timeoutKind === 'connect_timeout' ? 'connect' : 'closed', cause));
    outgoing.on('response', (reply) => this.#onReply(reply));
    this.#outgoing = outgoing;
  }

  /** Writes a chunk of the body. Returns false if the caller must wait for `onDrain`. */
  write(piece: Buffer): boolean {
    return this.#hasEnded || this.#outgoing.write(piece);
  }

  /** Ends the body. */
  finish(): void {
    if (!this.#hasEnded) this.#outgoing.end();
  }

  onDrain(listener: () => void): void {
    this.#outgoing.on('drain', listener);
  }

  pause(): void {
    this.#reply?.pause();
  }

  resume(): void {
    this.#reply?.resume();
  }

  cancel(): void {
    this.#hasEnded = true;
    this.#outgoing.destroy();
  }

  #onReply(reply: IncomingMessage): void {
    if (this.#hasEnded) return;
    this.#reply = reply;
    this.#setTimeout('idle_timeout', this.#timeouts.idleMs);
    this.#listener.head(reply.statusCode ?? 502, toReplyHeaders(reply));
    reply.setEncoding('latin1');
    reply.on('data', (text: string) => {
      if (!this.#hasEnded) this.#listener.bytes(text);
    });
    reply.on('end', () => this.#end());
    reply.on('error', (cause) => this.#fail('closed', cause));
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.cancel();
    this.#listener.end();
  }

  #setTimeout(kind: HttpErrorKind, ms: number): void {
    this.#timeoutKind = kind;
    this.#outgoing.setTimeout(ms);
  }

  #fail(kind: HttpErrorKind, cause?: unknown): void {
    if (this.#hasEnded) return;
    this.cancel();
    this.#listener.fail(new HttpError(kind, `Upload failed: ${kind}`, cause));
  }
}

function toReplyHeaders({ headers }: IncomingMessage): ReplyHeaders {
  const plain: Record<string, string> = Object.create(null);
  for (const name in headers) plain[name] = String(headers[name]);
  return plain;
}
