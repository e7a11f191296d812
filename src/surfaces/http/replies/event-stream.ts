import type { ServerResponse } from 'node:http';
import { waitForDrain } from '#base/http/wait-for-drain.ts';
import { privateFields } from './header-fields.ts';

const pingIntervalMs = 15_000;
const maxPendingBytes = 64 * 1024;
/** A comment, which keeps an idle connection open and which clients ignore. */
export const commentHeartbeat = ': ping\n\n';

/** Options for the start of an event stream. */
export interface EventHead {
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes that are sent when the stream is idle. Default: `commentHeartbeat`. */
  readonly heartbeat?: string;
}

/**
 * Writes server-sent events. Batches the events of one event loop turn into one write, sends a heartbeat after 15 s without
 * events, and disconnects a client that stops reading for 5 minutes.
 */
export class EventStream {
  readonly #response: ServerResponse;
  #pending = '';
  readonly #isChunked: boolean;
  #hasEnded = false;
  /** Whether a write is scheduled for the end of this event loop turn. */
  #isDue = false;
  readonly #ping: NodeJS.Timeout;

  /**
   * Writes the pending events. The scheduled writes of all streams run in succession, so that a reader of several streams, such as a
   * proxy, wakes only once.
   */
  static #write(stream: EventStream): void {
    stream.#isDue = false;
    const response = stream.#response;
    if (response.destroyed || response.writableEnded) return;
    const pending = stream.#pending;
    const bytes = stream.#isChunked && pending !== '' ? `${pending.length.toString(16)}\r\n${pending}\r\n` : pending;
    stream.#pending = '';
    if (stream.#hasEnded) {
      endResponse(response, stream.#isChunked ? `${bytes}0\r\n\r\n` : bytes);
    } else if (bytes !== '') {
      stream.#ping.refresh();
      response.write(bytes, 'latin1');
    }
  }

  /** Sends the headers together with the first events. */
  constructor(response: ServerResponse, { headers, heartbeat = commentHeartbeat }: EventHead) {
    this.#response = response;
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      ...privateFields,
      'cache-control': 'private, no-store, no-cache, no-transform',
      'x-accel-buffering': 'no',
      // HTTP/1.0 does not support chunks. The end of the connection marks the end of the body.
      ...(response.useChunkedEncodingByDefault && { 'transfer-encoding': 'chunked' }),
      ...headers,
    });
    // The response retains its header as a rope of about fifty strings. Reading a character makes it one string.
    String(Reflect.get(response, '_header')).charCodeAt(0);
    // Chunks are framed here, so that the headers, the frame, and the events are one string and one write.
    this.#isChunked = response.chunkedEncoding;
    response.chunkedEncoding = false;
    this.#ping = setInterval(() => this.send(heartbeat), pingIntervalMs);
  }

  /** Sends complete events as latin1 bytes. Returns whether the client keeps up. If not, wait for `whenDrained`. */
  send(bytes: string): boolean {
    if (bytes !== '' && !this.#hasEnded) {
      this.#pending += bytes;
      if (!this.#isDue) setImmediate(EventStream.#write, this);
      this.#isDue = true;
    }
    return !this.#response.writableNeedDrain && this.#pending.length <= maxPendingBytes;
  }

  /** Resolves when the client has caught up or disconnected. */
  whenDrained(): Promise<void> {
    EventStream.#write(this);
    return whenDrained(this.#response);
  }

  end(): void {
    if (this.#hasEnded) return;
    clearInterval(this.#ping);
    this.#hasEnded = true;
    if (!this.#isDue) setImmediate(EventStream.#write, this);
  }

  /** Destroys the connection after the client disconnected. */
  abandon(): void {
    clearInterval(this.#ping);
    this.#pending = '';
    this.#hasEnded = true;
    this.#response.destroy();
  }
}

/** Maximum time in milliseconds that a client may stop reading while data is pending. */
export const maxStalledMs = 300_000;

/** Ends a response with latin1 bytes. Disconnects a client that does not read them in time. */
export function endResponse(response: ServerResponse, bytes: string): void {
  response.end(bytes, 'latin1');
  if (response.socket !== null && response.socket.writableLength > 0) disconnectStalled(response);
}

/** Disconnects a client that stops reading for `maxStalledMs`. */
export function disconnectStalled(response: ServerResponse): void {
  response.setTimeout(maxStalledMs, () => response.destroy());
}

/** Resolves when the client has caught up or disconnected. Disconnects a client that stops reading for `maxStalledMs`. */
export async function whenDrained(response: ServerResponse): Promise<void> {
  if (!response.writableNeedDrain) return;
  const stalled = setTimeout(() => response.destroy(), maxStalledMs);
  await waitForDrain(response);
  clearTimeout(stalled);
}
