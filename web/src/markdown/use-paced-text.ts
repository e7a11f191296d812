import { useEffect, useRef, useState } from 'react';

const atFirst = 8000;

/** A text that may grow, as much of it as is to be drawn now. */
export function usePacedText(text: string, isWhole: boolean): string {
  const [pace] = useState(() => new Pace());
  const [shownChars, setShownChars] = useState(Math.min(text.length, atFirst));
  const shown = useRef(shownChars);
  useEffect(() => {
    let frame = 0;
    const look = (): void => {
      const chars = pace.frame(performance.now(), text.length - shown.current, isWhole);
      shown.current += chars;
      if (chars > 0) setShownChars(shown.current);
      if (shown.current < text.length || pace.isMeasuring) frame = requestAnimationFrame(look);
    };
    if (shown.current < text.length || pace.isMeasuring) frame = requestAnimationFrame(look);
    return () => cancelAnimationFrame(frame);
  }, [text, isWhole, pace]);
  return shownChars < text.length ? text.slice(0, shownChars) : text;
}

/** Characters that are added at once. */
const fewest = 400;
const most = 8000;
const mostOfWhole = 16_000;
/** Of two frames: all was drawn in time, or far from it. */
const goodMs = 42;
const poorMs = 60;

/**
 * How much of a text that waits is drawn with the next frame: the more, the sooner the last piece was drawn, and the more waits.
 * A piece that took long is followed by a pause of the same length.
 */
export class Pace {
  #chars = fewest;
  #added: { readonly atMs: number; readonly isFull: boolean; frames: number } | undefined;
  #notBeforeMs = 0;

  /** How long the last piece takes is not known yet. */
  get isMeasuring(): boolean {
    return this.#added !== undefined;
  }

  /** Called in each frame; gives how many characters are added in it. `isWhole`: no more of them come. */
  frame(nowMs: number, waitingChars: number, isWhole: boolean): number {
    if (!this.#isDrawn(nowMs) || waitingChars <= 0 || nowMs < this.#notBeforeMs) return 0;
    const least = Math.min(most, waitingChars / 8);
    const chars = Math.min(waitingChars, isWhole ? mostOfWhole : Math.max(this.#chars, least));
    this.#added = { atMs: nowMs, isFull: chars >= this.#chars, frames: 0 };
    return chars;
  }

  /** A piece is drawn in the frame behind the one that added it. */
  #isDrawn(nowMs: number): boolean {
    const added = this.#added;
    if (added === undefined) return true;
    added.frames += 1;
    if (added.frames < 2) return false;
    this.#added = undefined;
    const tookMs = nowMs - added.atMs;
    if (tookMs > poorMs) {
      this.#chars = Math.max(fewest, this.#chars / 2);
      this.#notBeforeMs = nowMs + tookMs;
    } else if (tookMs < goodMs && added.isFull) this.#chars = Math.min(most, this.#chars * 2);
    return true;
  }
}
