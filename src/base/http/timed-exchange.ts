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
  protected paused = false;
  readonly #timeouts: HttpTimeouts;
  readonly #sweep: Sweep;
  #limitMs = 0;
  #leftMs = 0;
  #rearmed = false;

  constructor(timeouts: HttpTimeouts, listener: ReplyListener, sweep: Sweep) {
    this.#timeouts = timeouts;
    this.#sweep = sweep;
    this.listener = listener;
    this.#arm(timeouts.connectMs);
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

  abort(): void {
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
    if (this.paused && this.stage === 'body') return;
    if (this.#rearmed) {
      this.#rearmed = false;
      this.#leftMs = this.#limitMs;
      return;
    }
    this.#leftMs -= elapsedMs;
    if (this.#leftMs <= 0) this.fail(this.#timeoutFault());
  }

  protected startConnecting(): void {
    this.stage = 'connecting';
    this.#arm(this.#timeouts.connectMs);
  }

  protected startWaiting(): void {
    this.stage = 'waiting';
    this.#arm(this.#timeouts.firstByteMs);
  }

  protected startBody(): void {
    this.stage = 'body';
    this.#arm(this.#timeouts.idleMs);
    if (this.paused) this.applyPause(true);
  }

  /** A read came: the idle limit starts anew. */
  protected heard(): void {
    this.#rearmed = true;
  }

  protected finish(): void {
    this.stage = 'over';
    this.#sweep.delete(this);
  }

  #arm(limitMs: number): void {
    this.#limitMs = limitMs;
    this.#rearmed = true;
  }

  #timeoutFault(): HttpFault {
    const { connectMs, firstByteMs, idleMs } = this.#timeouts;
    if (this.stage === 'connecting') return new HttpFault('connect_timeout', `no connection within ${connectMs} ms`);
    if (this.stage === 'waiting') return new HttpFault('first_byte_timeout', `no reply within ${firstByteMs} ms`);
    return new HttpFault('idle_timeout', `the reply stood still for ${idleMs} ms`);
  }
}
