import { type Outcome, toMark } from './cells.ts';
import { type KnownFailure, matchesKnownFailure } from './known-failures.ts';

/** Returns one line for each reason to fail the suite: red cells without a review, and reviewed cells that are green. */
export function findErrors(outcomes: readonly Outcome[], known: readonly KnownFailure[]): string[] {
  const red = outcomes.filter(({ ok }) => !ok);
  const unknown = red.filter((outcome) => !known.some((each) => matchesKnownFailure(each, outcome)));
  const stale = known.filter((each) => !red.some((outcome) => matchesKnownFailure(each, outcome)));
  return [
    ...unknown.map((outcome) => `${toMark(outcome)} ${outcome.seen}`),
    ...stale.map(({ why }) => `no cell is red for this reason. Remove it from known-failures.ts: ${why}`),
  ];
}
