import type { Sweep, Swept } from '../time/sweep.ts';
import {
  type Exchange,
  type HttpBody,
  HttpError,
  type HttpRequest,
  type HttpTimeouts,
  isStreamed,
  type ReplyHeaders,
  type ReplyListener,
} from './client.ts';
import { canUnpack, Unpacker } from './unpacker.ts';

const noBody = '';

/** Stage of an exchange. Each stage except the last has its own time limit. */
type ExchangeStage = 'connecting' | 'sending' | 'waiting' | 'body' | 'ended';

/** The part of a connection that an exchange controls. */
export interface Carrier {
  destroy(): void;
  setPaused(isPaused: boolean): void;
}

/**
 * One request in progress with its time limits. Calls `end` or `fail` of its listener at most once. Releases the request when the
 * reply starts. A time limit counts complete sweeps after it was set, so it fires up to 100 ms late and never early.
 */
export class LeanExchange implements Exchange, Swept {
  listener: ReplyListener;
  stage: ExchangeStage = 'connecting';
  slot = -1;
  /** Request line and header fields with the empty line, as latin1 text. */
  requestHead: string;
  body: HttpBody;
  mayBeResent: boolean;
  #carrier: Carrier | null = null;
  /** Set if the reply is compressed. */
  #unpacker: Unpacker | undefined;
  #isPaused = false;
  /** Whether the server currently does not read the body. */
  #isStalled = false;
  readonly #keepsEncoding: boolean;
  readonly #timeouts: HttpTimeouts;
  readonly #sweep: Sweep;
  #limit: keyof HttpTimeouts = 'connectMs';
  #remainingMs = 0;
  /** Whether the time limit restarts with the next sweep. */
  #isRearmed = true;
  /** Remaining time for a reply that is no longer needed, see `endWithin`. */
  #endsWithinMs: number | undefined;

  constructor(request: HttpRequest, requestHead: string, listener: ReplyListener, sweep: Sweep) {
    this.listener = listener;
    this.requestHead = requestHead;
    this.body = request.body ?? noBody;
    this.mayBeResent = request.isNotRepeatable !== true && (typeof this.body === 'string' || !isStreamed(this.body));
    this.#keepsEncoding = request.keepsEncoding === true;
    this.#timeouts = request.timeouts;
    this.#sweep = sweep;
    sweep.add(this);
  }

  onConnecting(carrier: Carrier): void {
    this.#carrier = carrier;
    this.stage = 'connecting';
    this.#limit = 'connectMs';
    this.#isRearmed = true;
  }

  /** Called while a body is being sent. `firstByteMs` counts only while the server does not read it. */
  onSending(carrier: Carrier, isStalled: boolean): void {
    if (this.stage !== 'connecting' && this.stage !== 'sending') return;
    this.#carrier = carrier;
    this.stage = 'sending';
    this.#isStalled = isStalled;
    this.#limit = 'firstByteMs';
    this.#isRearmed = true;
  }

  onSent(carrier: Carrier): void {
    if (this.stage !== 'connecting' && this.stage !== 'sending') return;
    this.#carrier = carrier;
    this.stage = 'waiting';
    this.#limit = 'firstByteMs';
    this.#isRearmed = true;
  }

  /** `firstByteMs` continues until the first byte of content, because some servers send the head immediately. */
  head(status: number, headers: ReplyHeaders): void {
    this.requestHead = '';
    this.body = noBody;
    this.stage = 'body';
    if (this.#isPaused) this.#carrier?.setPaused(true);
    if (headers['content-encoding'] !== undefined && canUnpack(headers) && !this.#keepsEncoding) this.#unpack();
    this.listener.head(status, headers);
  }

  /** Restarts the idle limit. */
  bytes(content: string): void {
    this.#limit = 'idleMs';
    this.#isRearmed = true;
    this.listener.bytes(content);
  }

  /** Ends the exchange. The reply is complete and the connection no longer serves this exchange. */
  complete(): void {
    this.#carrier = null;
    this.stage = 'ended';
    this.#sweep.delete(this);
  }

  onConnectionLost(cause: unknown): void {
    if (this.stage === 'connecting') this.fail(new HttpError('connect', 'no connection', cause));
    else this.fail(new HttpError('closed', 'the connection closed before the reply was complete', cause));
  }

  fail(error: HttpError): void {
    if (this.stage === 'ended') return;
    this.#drop();
    this.listener.fail(error);
  }

  cancel(): void {
    this.#unpacker?.cancel();
    if (this.stage !== 'ended') this.#drop();
  }

  pause(): void {
    if (this.#unpacker === undefined) this.pauseReading();
    else this.#unpacker.pause();
  }

  resume(): void {
    if (this.#unpacker === undefined) this.resumeReading();
    else this.#unpacker.resume();
  }

  pauseReading(): void {
    if (this.#isPaused || this.stage === 'ended') return;
    this.#isPaused = true;
    if (this.stage === 'body') this.#carrier?.setPaused(true);
  }

  resumeReading(): void {
    if (!this.#isPaused || this.stage === 'ended') return;
    this.#isPaused = false;
    this.#isRearmed = true;
    if (this.stage === 'body') this.#carrier?.setPaused(false);
  }

  endWithin(ms: number): void {
    this.#endsWithinMs = ms;
  }

  sweep(_nowMs: number, elapsedMs: number): void {
    if (this.#endsWithinMs !== undefined) {
      this.#endsWithinMs -= elapsedMs;
      if (this.#endsWithinMs <= 0) this.cancel();
      return;
    }
    if (this.#isPaused && this.stage === 'body') return;
    if (this.stage === 'sending' && !this.#isStalled) return;
    if (this.#isRearmed) {
      this.#isRearmed = false;
      this.#remainingMs = this.#timeouts[this.#limit];
      return;
    }
    this.#remainingMs -= elapsedMs;
    if (this.#remainingMs <= 0) this.fail(this.#toTimeoutError());
  }

  /** Closes the connection and releases the request. */
  #drop(): void {
    const carrier = this.#carrier;
    this.complete();
    carrier?.destroy();
    this.requestHead = '';
    this.body = noBody;
  }

  #unpack(): void {
    this.#unpacker = new Unpacker(this.listener, this);
    this.listener = this.#unpacker;
    if (!this.#isPaused) return;
    this.#unpacker.pause();
    this.resumeReading();
  }

  #toTimeoutError(): HttpError {
    const { connectMs, firstByteMs, idleMs } = this.#timeouts;
    switch (this.#limit) {
      case 'connectMs':
        return new HttpError('connect_timeout', `no connection within ${connectMs} ms`);
      case 'firstByteMs':
        return new HttpError('first_byte_timeout', `no reply within ${firstByteMs} ms`);
      case 'idleMs':
        return new HttpError('idle_timeout', `the server sent no data for ${idleMs} ms`);
    }
  }
}
