import { type Exchange, HttpFault, type HttpTimeouts, type ReplyListener } from './client.ts';
import type { Sweep, Swept } from './sweep.ts';

/** Where an exchange stands; each stage but the last has a time limit of its own. */
type ExchangeStage = 'connecting' | 'waiting' | 'body' | 'over';

/**
 * The part both clients share: stages, their time limits, one last word to the listener.
 * A limit counts whole sweeps after it was armed, so it fires up to 100 ms late and never early.
 */
export abstract class TimedExchange implements Exchange, Swept {
  readonly listener: ReplyListener;
  stage: ExchangeStage = 'connecting';
  slot = -1;
  protected paused = false;
  readonly #timeouts: HttpTimeouts;
  readonly #sweep: Sweep;
  #limit: keyof HttpTimeouts = 'connectMs';
  #leftMs = 0;
  #rearmed = false;
  /** Time left to an exchange of which nothing more is wanted. */
  #endsWithinMs: number | undefined;

  constructor(timeouts: HttpTimeouts, listener: ReplyListener, sweep: Sweep) {
    this.#timeouts = timeouts;
    this.#sweep = sweep;
    this.listener = listener;
    this.#arm('connectMs');
    sweep.add(this);
  }

  /** Closes or lets go of what carries the exchange. Called once at most, when it ends before its reply did. */
  protected abstract drop(): void;
  protected abstract applyPause(paused: boolean): void;

  pause(): void {
    if (this.paused || this.stage === 'over') return;
    this.paused = true;
    if (this.stage === 'body') this.applyPause(true);
  }

  resume(): void {
    if (!this.paused || this.stage === 'over') return;
    this.paused = false;
    this.#rearmed = true;
    if (this.stage === 'body') this.applyPause(false);
  }

  cancel(): void {
    if (this.stage === 'over') return;
    this.finish();
    this.drop();
  }

  fail(fault: HttpFault): void {
    if (this.stage === 'over') return;
    this.finish();
    this.drop();
    this.listener.fail(fault);
  }

  sweep(_nowMs: number, elapsedMs: number): void {
    if (this.#endsWithinMs !== undefined) {
      this.#endsWithinMs -= elapsedMs;
      if (this.#endsWithinMs <= 0) this.cancel();
      return;
    }
    if (this.paused && this.stage === 'body') return;
    if (this.#rearmed) {
      this.#rearmed = false;
      this.#leftMs = this.#timeouts[this.#limit];
      return;
    }
    this.#leftMs -= elapsedMs;
    if (this.#leftMs <= 0) this.fail(this.#timeoutFault());
  }

  protected startConnecting(): void {
    this.stage = 'connecting';
    this.#arm('connectMs');
  }

  protected startWaiting(): void {
    this.stage = 'waiting';
    this.#arm('firstByteMs');
  }

  /** The head came. Some servers send it at once: the limit of the first byte goes on until one of the content comes. */
  protected startBody(): void {
    this.stage = 'body';
    if (this.paused) this.applyPause(true);
  }

  endWithin(ms: number): void {
    this.#endsWithinMs = ms;
  }

  /** Content came: the idle limit starts anew. */
  protected heard(): void {
    this.#arm('idleMs');
  }

  protected finish(): void {
    this.stage = 'over';
    this.#sweep.delete(this);
  }

  #arm(limit: keyof HttpTimeouts): void {
    this.#limit = limit;
    this.#rearmed = true;
  }

  #timeoutFault(): HttpFault {
    const { connectMs, firstByteMs, idleMs } = this.#timeouts;
    switch (this.#limit) {
      case 'connectMs':
        return new HttpFault('connect_timeout', `no connection within ${connectMs} ms`);
      case 'firstByteMs':
        return new HttpFault('first_byte_timeout', `no reply within ${firstByteMs} ms`);
      case 'idleMs':
        return new HttpFault('idle_timeout', `the reply stood still for ${idleMs} ms`);
    }
  }
}
