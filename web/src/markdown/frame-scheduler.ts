import { createContext } from 'react';

const maxMsPerFrame = 8;

/** Spreads deferrable work over frames, and runs as much as fits into each. */
export class FrameScheduler {
  readonly #waiting = new Set<() => void>();
  #spentMs = 0;
  #frame: number | undefined;

  /** Runs the action now if there is time, otherwise in one of the next frames. Returns a function that cancels it. */
  add(action: () => void): () => void {
    if (this.#waiting.size === 0 && this.#spentMs < maxMsPerFrame) this.#runNow(action);
    else this.#waiting.add(action);
    this.#frame ??= requestAnimationFrame(this.#runFrame);
    return () => this.#waiting.delete(action);
  }

  readonly #runFrame = (): void => {
    this.#spentMs = 0;
    this.#frame = undefined;
    for (const action of this.#waiting) {
      if (this.#spentMs >= maxMsPerFrame) break;
      this.#waiting.delete(action);
      this.#runNow(action);
    }
    if (this.#spentMs > 0) this.#frame = requestAnimationFrame(this.#runFrame);
  };

  #runNow(action: () => void): void {
    const startedMs = performance.now();
    action();
    this.#spentMs += performance.now() - startedMs;
  }
}

/** Scheduler that the parts of one text share. */
export const FrameSchedulerContext = createContext<FrameScheduler | undefined>(undefined);
