import { createContext } from 'react';

const mostMsInFrame = 8;

/** Work that can wait a moment: as much of it in each frame as leaves the frame in time. */
export class FrameWork {
  readonly #waiting = new Set<() => void>();
  #spentMs = 0;
  #frame: number | undefined;

  /** Done at once while there is time, else in one of the next frames. Gives what takes it back. */
  add(act: () => void): () => void {
    if (this.#waiting.size === 0 && this.#spentMs < mostMsInFrame) this.#do(act);
    else this.#waiting.add(act);
    this.#frame ??= requestAnimationFrame(this.#begin);
    return () => this.#waiting.delete(act);
  }

  readonly #begin = (): void => {
    this.#spentMs = 0;
    this.#frame = undefined;
    for (const act of this.#waiting) {
      if (this.#spentMs >= mostMsInFrame) break;
      this.#waiting.delete(act);
      this.#do(act);
    }
    if (this.#spentMs > 0) this.#frame = requestAnimationFrame(this.#begin);
  };

  #do(act: () => void): void {
    const beganMs = performance.now();
    act();
    this.#spentMs += performance.now() - beganMs;
  }
}

/** Shared by what is drawn in one text. */
export const FrameWorkContext = createContext<FrameWork | undefined>(undefined);
