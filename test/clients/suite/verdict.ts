import { type Outcome, toMark } from './cells.ts';
import { isKnown, type KnownFailure } from './known-failures.ts';

/** Returns one line for each reason to fail the suite: red cells without a review, and reviewed cells that are green. */
export function findErrors(outcomes: readonly Outcome[], known: readonly KnownFailure[]): string[] {
  const red = outcomes.filter(({ ok }) => !ok);
  const unknown = red.filter((outcome) => !known.some((each) => isKnown(each, outcome)));
  const stale = known.filter((each) => !red.some((outcome) => isKnown(each, outcome)));
  return [
    ...unknown.map((outcome) => `${toMark(outcome)} ${outcome.seen}`),
    ...stale.map(({ why }) => `no cell is red for this reason. Remove it from known-failures.ts: ${why}`),
  ];
}
