import { createContext } from 'react';

const maxMsPerFrame = 8;

/** Spreads deferrable work over frames, as much as fits into each. */
export class FrameWork {
  readonly #waiting = new Set<() => void>();
  #spentMs = 0;
  #frame: number | undefined;

  /** Runs the action now if there is time, otherwise in one of the next frames. Returns a function that cancels it. */
  add(act: () => void): () => void {
    if (this.#waiting.size === 0 && this.#spentMs < maxMsPerFrame) this.#do(act);
    else this.#waiting.add(act);
    this.#frame ??= requestAnimationFrame(this.#runFrame);
    return () => this.#waiting.delete(act);
  }

  readonly #runFrame = (): void => {
    this.#spentMs = 0;
    this.#frame = undefined;
    for (const act of this.#waiting) {
      if (this.#spentMs >= maxMsPerFrame) break;
      this.#waiting.delete(act);
      this.#do(act);
    }
    if (this.#spentMs > 0) this.#frame = requestAnimationFrame(this.#runFrame);
  };

  #do(act: () => void): void {
    const startedMs = performance.now();
    act();
    this.#spentMs += performance.now() - startedMs;
  }
}

/** Shared by the parts of one text. */
export const FrameWorkContext = createContext<FrameWork | undefined>(undefined);
