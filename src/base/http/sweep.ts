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

  add(watched: Swept): void {
    this.#watched.add(watched);
    if (this.#timer === null) {
      this.#lastMs = performance.now();
      this.#timer = setInterval(() => this.#tick(), TICK_MS);
      this.#timer.unref();
    }
  }

  delete(watched: Swept): void {
    this.#watched.delete(watched);
  }

  #tick(): void {
    if (this.#watched.size === 0) {
      if (this.#timer !== null) clearInterval(this.#timer);
      this.#timer = null;
      return;
    }
    const nowMs = performance.now();
    const elapsedMs = Math.min(nowMs - this.#lastMs, 2 * TICK_MS);
    this.#lastMs = nowMs;
    this.#watched.each((watched) => watched.sweep(nowMs, elapsedMs));
  }
}
