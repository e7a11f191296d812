import type { Window } from './windows.ts';

/** One counter, as one step shall see and change it. All numbers are whole, but for an infinite total. */
export interface Counter {
  readonly window: Window;
  /** Unique within the window; the same in its next period. */
  readonly holder: string;
  /** When the period is over and the counter starts again from 0; milliseconds since the epoch. */
  readonly endsAtMs: number;
  /** From here on it stands in the way; infinite: never. */
  readonly total: number;
  /** What is added. */
  readonly amount: number;
}

/** Port: where it is counted what callers use. */
export interface LimitStore {
  /**
   * In one step that no other call comes between: adds to every counter its amount, unless one of them has reached its
   * total. Gives what each had before, in their order.
   */
  count(counters: readonly Counter[]): readonly number[] | Promise<readonly number[]>;
}
