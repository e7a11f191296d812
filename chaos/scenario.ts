import type { Random } from './random.ts';
import type { Tally } from './tally.ts';

/** The environment of a scenario. */
export interface Ground {
  readonly random: Random;
  readonly tally: Tally;
  /** Whether the scenario must end within seconds. */
  readonly isShort: boolean;
  /** Deadline on the clock of `performance.now`. Scenarios start no new work after it. */
  readonly untilMs: number;
  /** Number of inputs that a fuzzer sends. Undefined sends inputs until the deadline. */
  readonly inputs: number | undefined;
  /** Runs only cases whose name contains this text. */
  readonly match: string;
  /** Program of an earlier version, which a rolling upgrade replaces. */
  readonly from: string | undefined;
  /** Reports progress. */
  readonly log: (text: string) => void;
}

/** One kind of harm. It records tests and faults in the tally. A thrown error is a fault too. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** Weight of its share of the total time. */
  readonly weight: number;
  /** Whether the scenario takes too long for the short form. */
  readonly isLongOnly?: boolean;
  readonly run: (ground: Ground) => Promise<void>;
}

/** Returns whether there is time for another round. */
export function hasTime({ untilMs }: Pick<Ground, 'untilMs'>): boolean {
  return performance.now() < untilMs;
}
