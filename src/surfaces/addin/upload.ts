import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { HttpError, type HttpErrorKind, type HttpTimeouts, type ReplyHeaders, type ReplyListener } from '#base/http/client.ts';
import type { Handle } from '#base/stream/sink.ts';

/** A request whose body is streamed. */
export interface UploadRequest {
  readonly url: URL;
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

  constructor({ url, method, path, fields }: UploadRequest, timeouts: HttpTimeouts, listener: ReplyListener) {
    this.#listener = listener;
    this.#timeouts = timeouts;
    const isSecure = url.protocol === 'https:';
    const { connectMs: timeout } = timeouts;
    const options = {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port,
      method,
      path,
      timeout,
      agent: false,
      setHost: false,
    };
    const outgoing = isSecure ? httpsRequest(options) : httpRequest(options);
    for (let index = 0; index + 1 < fields.length; index += 2)
      outgoing.appendHeader(fields[index] ?? '', fields[index + 1] ?? '');
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
