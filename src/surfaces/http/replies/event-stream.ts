import type { ServerResponse } from 'node:http';
import { waitForDrain } from '#base/http/wait-for-drain.ts';
import { privateFields } from './header-fields.ts';

const pingMs = 15_000;
const fullBytes = 64 * 1024;

/** What a stream of events begins with. */
export interface EventHead {
  readonly headers: Readonly<Record<string, string>>;
  /** What an idle stream gets; default a comment. */
  readonly heartbeat?: string;
}

/**
 * Writes server-sent events: all that came within one turn of the event loop goes out in one write, an idle stream gets
 * a comment every 15 s, and a reader that takes nothing for 5 minutes is disconnected.
 */
export class EventStream {
  readonly #response: ServerResponse;
  #pending = '';
  readonly #isChunked: boolean;
  #hasEnded = false;
  /** Whether it is written at the end of this turn of the event loop. */
  #isDue = false;
  readonly #ping: NodeJS.Timeout;

  /** Writes what came; made back to back, writes wake their reader once. */
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

  /** Sends the head with the first events. */
  constructor(response: ServerResponse, { headers, heartbeat = ': ping\n\n' }: EventHead) {
    this.#response = response;
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      ...privateFields,
      'cache-control': 'private, no-store, no-cache, no-transform',
      'x-accel-buffering': 'no',
      // HTTP/1.0 knows no chunks: there the end of the connection is the end.
      ...(response.useChunkedEncodingByDefault && { 'transfer-encoding': 'chunked' }),
      ...headers,
    });
    // The head lives as long as the response, as the fifty pieces it was concatenated from; reading a char joins them.
    String(Reflect.get(response, '_header')).charCodeAt(0);
    // Chunks are framed here, so that head, frame and events are one string and one write.
    this.#isChunked = response.chunkedEncoding;
    response.chunkedEncoding = false;
    this.#ping = setInterval(() => this.send(heartbeat), pingMs);
  }

  /** Takes whole events as latin1 bytes. Gives whether the reader keeps up; if not, `drained` tells when to go on. */
  send(bytes: string): boolean {
    if (bytes !== '' && !this.#hasEnded) {
      this.#pending += bytes;
      if (!this.#isDue) setImmediate(EventStream.#write, this);
      this.#isDue = true;
    }
    return !this.#response.writableNeedDrain && this.#pending.length <= fullBytes;
  }

  /** Resolves when the reader has caught up, or is gone. */
  drained(): Promise<void> {
    EventStream.#write(this);
    return whenDrained(this.#response);
  }

  end(): void {
    if (this.#hasEnded) return;
    clearInterval(this.#ping);
    this.#hasEnded = true;
    if (!this.#isDue) setImmediate(EventStream.#write, this);
  }

  /** Stops writing without an end, for a caller that left. */
  abandon(): void {
    clearInterval(this.#ping);
    this.#pending = '';
    this.#hasEnded = true;
    this.#response.destroy();
  }
}

/** Milliseconds that a reader may take nothing of what waits for it. */
export const stalledMs = 300_000;

/** Ends an answer with latin1 bytes; a reader that does not take the rest is disconnected. */
export function endResponse(response: ServerResponse, bytes: string): void {
  response.end(bytes, 'latin1');
  if (response.socket !== null && response.socket.writableLength > 0) letGoOfStalled(response);
}

/** Ends the connection of a reader that takes nothing for `stalledMs`. */
export function letGoOfStalled(response: ServerResponse): void {
  response.setTimeout(stalledMs, () => response.destroy());
}

/** Resolves when the reader has caught up, or is gone; one that takes nothing for `stalledMs` is disconnected. */
export async function whenDrained(response: ServerResponse): Promise<void> {
  if (!response.writableNeedDrain) return;
  const stalled = setTimeout(() => response.destroy(), stalledMs);
  await waitForDrain(response);
  clearTimeout(stalled);
}
