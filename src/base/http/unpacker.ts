import {
  type BrotliDecompress,
  createBrotliDecompress,
  createInflateRaw,
  createUnzip,
  type InflateRaw,
  type Unzip,
} from 'node:zlib';
import { HttpError, type ReplyHeaders, type ReplyListener } from './client.ts';

/** Reading from the socket, as the one who unpacks steers it. */
interface Reading {
  pauseReading(): void;
  resumeReading(): void;
  cancel(): void;
}

const supportedEncodings: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'br', 'deflate']);

/** Whether an `Unpacker` can unpack a reply with these header fields; few servers send what nobody asked for (RFC 9110, 8.4). */
export function isCompressed(headers: ReplyHeaders): boolean {
  const encoding = headers['content-encoding'];
  return encoding !== undefined && supportedEncodings.has(encoding.trim().toLowerCase());
}

/**
 * Stands between a connection and the listener of a reply, and unpacks its content: gzip, br or deflate. How much comes out is for the
 * listener to bound: a pause of it holds back what is not unpacked yet, and the socket.
 */
export class Unpacker implements ReplyListener {
  readonly #next: ReplyListener;
  readonly #reading: Reading;
  #encoding = '';
  #stream: Decompressor | undefined;
  /** Failure of the connection, reported after the content that arrived before it. */
  #error: HttpError | undefined;
  /** Whether all content that arrived before the failure is decompressed. */
  #isFlushed = false;
  #isPaused = false;
  #isOver = false;

  constructor(next: ReplyListener, reading: Reading) {
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
    if (this.#isOver || this.#error !== undefined) return;
    const piece = Buffer.from(text, 'latin1');
    this.#stream ??= this.#open(piece);
    if (!this.#stream.write(piece)) this.#reading.pauseReading();
  }

  end(): void {
    if (this.#stream !== undefined) this.#stream.end();
    else if (!this.#isOver) this.#next.end();
  }

  /** Decompression runs on another thread, so content that arrived earlier may still be in the stream. */
  fail(error: HttpError): void {
    if (this.#isOver || this.#error !== undefined) return;
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

  /** Nothing more reaches the listener. */
  cancel(): void {
    this.#isOver = true;
    this.#stream?.destroy();
  }

  #open(firstPiece: Buffer): Decompressor {
    const stream = createStream(this.#encoding, firstPiece);
    stream.on('data', (piece: Buffer) => {
      if (this.#isOver) return;
      this.#next.bytes(piece.toString('latin1'));
      if (this.#isFlushed) this.#failIfRead();
    });
    stream.on('drain', () => this.#reading.resumeReading());
    stream.on('end', () => {
      if (this.#isOver) return;
      this.#isOver = true;
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
    if (this.#isOver) return;
    this.#reading.cancel();
    this.cancel();
    this.#next.fail(error);
  }
}

type Decompressor = BrotliDecompress | InflateRaw | Unzip;

/** Some servers send `deflate` without the frame of zlib that it should have (RFC 9110, 8.4.1.2). */
function createStream(encoding: string, [first = 0]: Buffer): Decompressor {
  if (encoding === 'br') return createBrotliDecompress();
  return encoding === 'deflate' && (first & 0x0f) !== 8 ? createInflateRaw() : createUnzip();
}
