import { createContext } from 'react';

const maxMsPerFrame = 8;

/** Work that can wait a moment: as much of it in each frame as leaves the frame in time. */
export class FrameWork {
  readonly #waiting = new Set<() => void>();
  #spentMs = 0;
  #frame: number | undefined;

  /** Done at once while there is time, else in one of the next frames. Gives what takes it back. */
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

/** Shared by what is drawn in one text. */
export const FrameWorkContext = createContext<FrameWork | undefined>(undefined);
