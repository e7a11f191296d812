import type { Handle } from './sink.ts';

/** Steers work that begins later: a pause or cancel that comes before holds from the beginning. */
export class DeferredHandle implements Handle {
  #work: Handle | undefined;
  #isPaused = false;
  #isCancelled = false;

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** Begins the work, unless it was cancelled before. May be called again for work that takes the place of this one. */
  start(begin: () => Handle): void {
    if (!this.#isCancelled) this.follow(begin());
  }

  /** Steers work that has begun. */
  follow(work: Handle): void {
    if (this.#isCancelled) return work.cancel();
    this.#work = work;
    if (this.#isPaused) work.pause();
  }

  /** Begins with what `prepare` resolves with; its signal is aborted if the work is cancelled before. `fail` is called with what either throws. */
  startAfter<Value>(
    prepare: (signal: AbortSignal) => Promise<Value>,
    begin: (value: Value) => Handle,
    fail: (error: unknown) => void,
  ): void {
    const waiting = new AbortController();
    this.start(() => ({ pause() {}, resume() {}, cancel: () => waiting.abort() }));
    prepare(waiting.signal)
      .then((value) => this.start(() => begin(value)))
      .catch((error: unknown) => this.#isCancelled || fail(error));
  }

  pause(): void {
    this.#isPaused = true;
    this.#work?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#work?.resume();
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#work?.cancel();
  }
}
