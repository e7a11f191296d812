import { Slots, type Slotted } from '../slots.ts';

const TICK_MS = 50;

/** Something whose time may run out. */
export interface Swept extends Slotted {
  /** Called about every 50 ms while watched. `elapsedMs` is bounded, so that a stalled event loop expires nothing unread. */
  sweep(nowMs: number, elapsedMs: number): void;
}

/** One timer for all time limits of a client, instead of one for each request. It runs, unreferenced, only while something is watched. */
export class Sweep {
  readonly #watched = new Slots<Swept>();
  #timer: NodeJS.Timeout | null = null;
  #lastMs = 0;

  static #tick(sweep: Sweep): void {
    if (sweep.#watched.size === 0) {
      if (sweep.#timer !== null) clearInterval(sweep.#timer);
      sweep.#timer = null;
      return;
    }
    const nowMs = performance.now();
    const elapsedMs = Math.min(nowMs - sweep.#lastMs, 2 * TICK_MS);
    sweep.#lastMs = nowMs;
    for (const watched of sweep.#watched.places) watched?.sweep(nowMs, elapsedMs);
  }

  add(watched: Swept): void {
    this.#watched.add(watched);
    if (this.#timer === null) {
      this.#lastMs = performance.now();
      this.#timer = setInterval(Sweep.#tick, TICK_MS, this);
      this.#timer.unref();
    }
  }

  delete(watched: Swept): void {
    this.#watched.delete(watched);
  }
}
