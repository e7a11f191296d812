import type { ServerResponse } from 'node:http';
import type { HttpError, ReplyHeaders, ReplyListener } from '#base/http/client.ts';
import type { Handle } from '#base/stream/sink.ts';
import { endResponse, maxStalledMs } from '../http/replies/event-stream.ts';
import { toClientFields } from './forwarded-fields.ts';
import { createErrorReply, type LocalReply, sendLocalReply } from './rules.ts';

const timeouts: ReadonlySet<string> = new Set(['connect_timeout', 'first_byte_timeout', 'idle_timeout']);
const unreachable = createErrorReply(
  502,
  'api_error',
  'The upstream service is unreachable or closed the connection. Try again.',
);
const tooSlow = createErrorReply(504, 'api_error', 'The upstream service did not respond in time. Try again.');

/**
 * Forwards the service's response to the client unchanged. Each read becomes one write, and the headers are written together
 * with the first bytes. If the service disconnects early, the client's connection is destroyed so that the client can detect the
 * truncation.
 */
export class Relay implements ReplyListener {
  readonly #response: ServerResponse;
  readonly #cors: readonly string[];
  #exchange: Handle | undefined;
  #pending = '';
  #isChunked = false;
  #endsByClose = false;
  #isFlushDue = false;
  #stalled: NodeJS.Timeout | undefined;
  /** Error that prevented a complete response. */
  error: HttpError | undefined;
  /** `X-Request-Id` of the service's response, if present. */
  requestId: string | undefined;

  /** `cors` contains the CORS headers of the response, as alternating names and values. */
  constructor(response: ServerResponse, cors: readonly string[]) {
    this.#response = response;
    this.#cors = cors;
  }

  /** Attaches the request to the service. It is paused while the client does not read, and canceled by `stop`. */
  follow(exchange: Handle): void {
    this.#exchange = exchange;
  }

  head(status: number, headers: ReplyHeaders): void {
    const response = this.#response;
    const fields = toClientFields(headers, this.#cors);
    const needsFrame = headers['content-length'] === undefined && status !== 204 && status !== 304;
    // HTTP/1.0 does not support chunks. The end of the connection marks the end of the body.
    this.#endsByClose = needsFrame && !response.useChunkedEncodingByDefault;
    if (needsFrame && !this.#endsByClose) fields.push('Transfer-Encoding', 'chunked');
    response.writeHead(status, fields);
    // Chunks are framed here, so that the headers, the frame, and the bytes are one string and one write.
    this.#isChunked = response.chunkedEncoding;
    response.chunkedEncoding = false;
    this.requestId = headers['x-request-id'];
    this.#flushSoon();
  }

  bytes(text: string): void {
    this.#pending += text;
    this.#flushSoon();
  }

  end(): void {
    this.#exchange = undefined;
    endResponse(this.#response, this.#takeFramedBytes() + (this.#isChunked ? '0\r\n\r\n' : ''));
  }

  fail(error: HttpError): void {
    this.error = error;
    this.#exchange = undefined;
    if (this.#response.headersSent) this.#truncate();
    else this.answer(timeouts.has(error.kind) ? tooSlow : unreachable);
  }

  /** Sends a response that does not come from the service. */
  answer(reply: LocalReply): void {
    sendLocalReply(this.#response, reply, this.#cors);
  }

  /** Cancels the request to the service, because the client no longer needs the response. */
  stop(): void {
    clearTimeout(this.#stalled);
    this.#exchange?.cancel();
    this.#exchange = undefined;
    this.#pending = '';
  }

  #flushSoon(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    process.nextTick(flush, this);
  }

  flush(): void {
    this.#isFlushDue = false;
    const response = this.#response;
    if (response.destroyed || response.writableEnded) return;
    if (this.#pending === '') response.flushHeaders();
    else if (!response.write(this.#takeFramedBytes(), 'latin1')) this.#waitForReader();
  }

  #takeFramedBytes(): string {
    const bytes = this.#pending;
    this.#pending = '';
    return this.#isChunked && bytes !== '' ? `${bytes.length.toString(16)}\r\n${bytes}\r\n` : bytes;
  }

  #waitForReader(): void {
    if (this.#stalled !== undefined) return;
    this.#exchange?.pause();
    this.#stalled = setTimeout(() => this.#response.destroy(), maxStalledMs);
    this.#response.once('drain', () => {
      clearTimeout(this.#stalled);
      this.#stalled = undefined;
      this.#exchange?.resume();
    });
  }

  /** If the end of the connection marks the end of the body, only a reset signals the truncation. */
  #truncate(): void {
    const { socket } = this.#response;
    if (this.#endsByClose && socket !== null && !('encrypted' in socket)) socket.resetAndDestroy();
    else this.#response.destroy();
  }
}

function flush(relay: Relay): void {
  relay.flush();
}
