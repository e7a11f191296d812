import type { Handle } from './sink.ts';

/** Controls work that starts later. A pause or cancel that comes before the start applies from the start. */
export class DeferredHandle implements Handle {
  #work: Handle | undefined;
  #isPaused = false;
  #isCanceled = false;

  get isCanceled(): boolean {
    return this.#isCanceled;
  }

  /** Starts the work, unless it was canceled before. A second call replaces the current work. */
  start(begin: () => Handle): void {
    if (!this.#isCanceled) this.follow(begin());
  }

  /** Controls work that has already started. */
  follow(work: Handle): void {
    if (this.#isCanceled) return work.cancel();
    this.#work = work;
    if (this.#isPaused) work.pause();
  }

  /**
   * Starts the work with the value that `prepare` resolves with. If the work is canceled before, the signal of `prepare` is
   * aborted. `fail` is called with errors of `prepare` and `begin`, unless the work was canceled.
   */
  startAfter<Value>(
    prepare: (signal: AbortSignal) => Promise<Value>,
    begin: (value: Value) => Handle,
    fail: (error: unknown) => void,
  ): void {
    const waiting = new AbortController();
    this.start(() => ({ pause() {}, resume() {}, cancel: () => waiting.abort() }));
    prepare(waiting.signal)
      .then((value) => this.start(() => begin(value)))
      .catch((error: unknown) => this.#isCanceled || fail(error));
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
    this.#isCanceled = true;
    this.#work?.cancel();
  }
}
