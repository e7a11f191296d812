import type { Random } from './random.ts';
import type { Tally } from './tally.ts';

/** What a scenario works with. */
export interface Ground {
  readonly random: Random;
  readonly tally: Tally;
  /** Whether it is to be over in seconds. */
  readonly isShort: boolean;
  /** On the clock of `performance.now`: nothing new is begun afterwards. */
  readonly untilMs: number;
  /** How many inputs a fuzzer sends; undefined: as many as the time allows. */
  readonly inputs: number | undefined;
  /** Only cases whose name has this in it. */
  readonly match: string;
  /** Progress, while it runs. */
  readonly log: (text: string) => void;
}

/** One way to do harm. It notes in the tally what was tried and what was not as it must be; what it throws is a fault too. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** How much of the whole time it gets, as a weight. */
  readonly weight: number;
  /** Whether it takes too long to be part of the short form. */
  readonly isLongOnly?: boolean;
  readonly run: (ground: Ground) => Promise<void>;
}

/** Whether there is time for one more round. */
export function hasTime({ untilMs }: Pick<Ground, 'untilMs'>): boolean {
  return performance.now() < untilMs;
}
