import type { ServerResponse } from 'node:http';
import type { HttpError, ReplyHeaders, ReplyListener } from '#base/http/client.ts';
import type { Handle } from '#base/stream/sink.ts';
import { stalledMs } from '../http/replies/event-stream.ts';
import { toCallerFields } from './forwarded-fields.ts';
import { type OwnAnswer, refusal, sendOwn } from './own-answer.ts';

const timeouts: ReadonlySet<string> = new Set(['connect_timeout', 'first_byte_timeout', 'idle_timeout']);
const unreachable = refusal(502, 'api_error', 'The service behind this gateway cannot be reached, or broke off; try again.');
const tooSlow = refusal(504, 'api_error', 'The service behind this gateway did not answer in time; try again.');

/**
 * Passes the service's reply down as it comes, byte for byte: what one read brought is one write, the head together with the first
 * bytes. A reply that breaks off breaks the connection: its reader must not take it for whole.
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
  /** Why there was no whole reply. */
  error: HttpError | undefined;
  /** Of the service's reply, where it gives one. */
  requestId: string | undefined;

  /** `cors`: the CORS fields of the response, as names and values in turn. */
  constructor(response: ServerResponse, cors: readonly string[]) {
    this.#response = response;
    this.#cors = cors;
  }

  /** Gives it what it steers: it pauses while the caller does not read, and is aborted by `stop`. */
  follow(exchange: Handle): void {
    this.#exchange = exchange;
  }

  head(status: number, headers: ReplyHeaders): void {
    const response = this.#response;
    const fields = toCallerFields(headers, this.#cors);
    const needsFrame = headers['content-length'] === undefined && status !== 204 && status !== 304;
    // HTTP/1.0 knows no chunks: there the end of the connection is the end.
    this.#endsByClose = needsFrame && !response.useChunkedEncodingByDefault;
    if (needsFrame && !this.#endsByClose) fields.push('Transfer-Encoding', 'chunked');
    response.writeHead(status, fields);
    // Chunks are framed here, so that head, frame and bytes are one string and one write.
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
    const last = this.#framed() + (this.#isChunked ? '0\r\n\r\n' : '');
    this.#response.end(last, 'latin1');
  }

  fail(error: HttpError): void {
    this.error = error;
    this.#exchange = undefined;
    if (this.#response.headersSent) this.#breakOff();
    else this.answer(timeouts.has(error.kind) ? tooSlow : unreachable);
  }

  /** Answers in place of the service. */
  answer(ownAnswer: OwnAnswer): void {
    sendOwn(this.#response, ownAnswer, this.#cors);
  }

  /** Nobody waits for the reply any more. */
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
    else if (!response.write(this.#framed(), 'latin1')) this.#waitForReader();
  }

  #framed(): string {
    const bytes = this.#pending;
    this.#pending = '';
    return this.#isChunked && bytes !== '' ? `${bytes.length.toString(16)}\r\n${bytes}\r\n` : bytes;
  }

  #waitForReader(): void {
    if (this.#stalled !== undefined) return;
    this.#exchange?.pause();
    this.#stalled = setTimeout(() => this.#response.destroy(), stalledMs);
    this.#response.once('drain', () => {
      clearTimeout(this.#stalled);
      this.#stalled = undefined;
      this.#exchange?.resume();
    });
  }

  /** Where the end of the connection is the end of the body, only a reset is not taken for it. */
  #breakOff(): void {
    const { socket } = this.#response;
    if (this.#endsByClose && socket !== null && !('encrypted' in socket)) socket.resetAndDestroy();
    else this.#response.destroy();
  }
}

function flush(relay: Relay): void {
  relay.flush();
}
