import {
  type BrotliDecompress,
  createBrotliDecompress,
  createInflateRaw,
  createUnzip,
  type InflateRaw,
  type Unzip,
} from 'node:zlib';
import { HttpError, type ReplyHeaders, type ReplyListener } from './client.ts';

/** Control over reading from the socket. */
interface SocketReader {
  pauseReading(): void;
  resumeReading(): void;
  cancel(): void;
}

const supportedEncodings: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'br', 'deflate']);

/** Returns whether an `Unpacker` can decompress a reply with these header fields (RFC 9110, 8.4). */
export function canUnpack(headers: ReplyHeaders): boolean {
  const encoding = headers['content-encoding'];
  return encoding !== undefined && supportedEncodings.has(encoding.trim().toLowerCase());
}

/**
 * Decompresses the content of a reply (gzip, br, or deflate) between a connection and its listener. The listener must bound the
 * decompressed size: while it pauses, decompression and reading from the socket stop.
 */
export class Unpacker implements ReplyListener {
  readonly #next: ReplyListener;
  readonly #reading: SocketReader;
  #encoding = '';
  #stream: Decompressor | undefined;
  /** Failure of the connection, reported after the content that arrived before it. */
  #error: HttpError | undefined;
  /** Whether all content that arrived before the failure is decompressed. */
  #isFlushed = false;
  #isPaused = false;
  #hasEnded = false;

  constructor(next: ReplyListener, reading: SocketReader) {
    this.#next = next;
    this.#reading = reading;
  }

  head(status: number, receivedHeaders: ReplyHeaders): void {
    const headers: Record<string, string> = Object.assign(Object.create(null), receivedHeaders);
    this.#encoding = (receivedHeaders['content-encoding'] ?? '').trim().toLowerCase();
    delete headers['content-encoding'];
    delete headers['content-length'];
    this.#next.head(status, headers);
  }

  bytes(text: string): void {
    if (this.#hasEnded || this.#error !== undefined) return;
    const piece = Buffer.from(text, 'latin1');
    this.#stream ??= this.#open(piece);
    if (!this.#stream.write(piece)) this.#reading.pauseReading();
  }

  end(): void {
    if (this.#stream !== undefined) this.#stream.end();
    else if (!this.#hasEnded) this.#next.end();
  }

  /** Decompression runs on another thread, so earlier content may still be in the stream. */
  fail(error: HttpError): void {
    if (this.#hasEnded || this.#error !== undefined) return;
    this.#error = error;
    if (this.#stream === undefined) this.#end(error);
    else this.#stream.flush(() => this.#failIfRead());
  }

  pause(): void {
    this.#isPaused = true;
    this.#stream?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#stream?.resume();
  }

  /** Stops the decompression. The listener receives no further calls. */
  cancel(): void {
    this.#hasEnded = true;
    this.#stream?.destroy();
  }

  #open(firstPiece: Buffer): Decompressor {
    const stream = createStream(this.#encoding, firstPiece);
    stream.on('data', (piece: Buffer) => {
      if (this.#hasEnded) return;
      this.#next.bytes(piece.toString('latin1'));
      if (this.#isFlushed) this.#failIfRead();
    });
    stream.on('drain', () => this.#reading.resumeReading());
    stream.on('end', () => {
      if (this.#hasEnded) return;
      this.#hasEnded = true;
      this.#next.end();
    });
    stream.on('error', (cause) => {
      this.#end(this.#error ?? new HttpError('malformed', `the reply is not valid ${this.#encoding} data`, cause));
    });
    if (this.#isPaused) stream.pause();
    return stream;
  }

  /** Reports the failure of the connection, unless a paused listener still has content to read. */
  #failIfRead(): void {
    this.#isFlushed = true;
    if (this.#error !== undefined && this.#stream?.readableLength === 0) this.#end(this.#error);
  }

  #end(error: HttpError): void {
    if (this.#hasEnded) return;
    this.#reading.cancel();
    this.cancel();
    this.#next.fail(error);
  }
}

type Decompressor = BrotliDecompress | InflateRaw | Unzip;

/** Returns a stream for the encoding. Some servers send `deflate` without the zlib wrapper (RFC 9110, 8.4.1.2). */
function createStream(encoding: string, [first = 0]: Buffer): Decompressor {
  if (encoding === 'br') return createBrotliDecompress();
  return encoding === 'deflate' && (first & 0x0f) !== 8 ? createInflateRaw() : createUnzip();
}
