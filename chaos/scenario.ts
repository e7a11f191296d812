import type { Random } from './random.ts';
import type { Tally } from './tally.ts';

/** Context of a scenario. */
export interface Ground {
  readonly random: Random;
  readonly tally: Tally;
  /** Whether the scenario must end within seconds. */
  readonly isShort: boolean;
  /** Time on the clock of `performance.now` after which no new round starts. */
  readonly untilMs: number;
  /** Number of inputs for a fuzzer. Undefined for as many as the time allows. */
  readonly inputs: number | undefined;
  /** Runs only cases whose name contains this text. */
  readonly match: string;
  /** Prints progress. */
  readonly log: (text: string) => void;
}

/** A kind of harm. It records its cases and its faults in the tally. An exception is a fault too. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** Weight of the scenario's share of the total time. */
  readonly weight: number;
  /** Whether the scenario takes too long for the short form. */
  readonly isLongOnly?: boolean;
  readonly run: (ground: Ground) => Promise<void>;
}

/** Returns whether there is time for one more round. */
export function hasTime({ untilMs }: Pick<Ground, 'untilMs'>): boolean {
  return performance.now() < untilMs;
}
