import type { CaseResult, Outcome } from './evaluation.ts';

/** A case in two evaluations. */
export interface ComparedCase {
  readonly name: string;
  readonly before: CaseResult | undefined;
  readonly after: CaseResult | undefined;
  /** `new` and `gone` mean that only one of the evaluations contains the case. */
  readonly change: 'better' | 'worse' | 'same' | 'new' | 'gone';
  readonly isSameAnswer: boolean;
}

const rank: Readonly<Record<Outcome, number>> = { error: 0, failed: 1, passed: 2 };

/**
 * Returns the cases of two evaluations in the order of the later one, followed by removed cases. Matches cases by ID, otherwise
 * by name and input.
 */
export function compareResults(before: readonly CaseResult[], after: readonly CaseResult[]): readonly ComparedCase[] {
  const unmatched = new Map<string, CaseResult[]>();
  for (const result of before) unmatched.set(toKey(result), [...(unmatched.get(toKey(result)) ?? []), result]);
  const compared = after.map((result) => compare(unmatched.get(toKey(result))?.shift(), result));
  const removed = [...unmatched.values()].flat().map((result) => compare(result, undefined));
  return [...compared, ...removed];
}

/** Returns the display name of a case: its name, otherwise its input. */
export function getCaseName({ case: { name, input }, nth: index }: Pick<CaseResult, 'case' | 'nth'>): string {
  if (name !== undefined) return name;
  const text = typeof input === 'string' ? input : input.at(-1)?.content;
  const line = typeof text === 'string' ? text.replaceAll(/\s+/g, ' ').trim() : '';
  if (line === '') return `Case ${index + 1}`;
  return line.length <= 80 ? line : `${line.slice(0, 79)}…`;
}

function compare(before: CaseResult | undefined, after: CaseResult | undefined): ComparedCase {
  const present = (after ?? before) as CaseResult;
  return {
    name: getCaseName(present),
    before,
    after,
    change: compareOutcomes(before, after),
    isSameAnswer: before?.answer === after?.answer,
  };
}

/** Returns the change. For equal outcomes, the share of passed checks decides. */
function compareOutcomes(before: CaseResult | undefined, after: CaseResult | undefined): ComparedCase['change'] {
  if (before === undefined) return 'new';
  if (after === undefined) return 'gone';
  const difference = rank[after.outcome] - rank[before.outcome] || getPassedShare(after) - getPassedShare(before);
  if (difference === 0) return 'same';
  return difference > 0 ? 'better' : 'worse';
}

function getPassedShare({ verdicts }: CaseResult): number {
  return verdicts.length === 0 ? 0 : verdicts.filter(({ passed }) => passed).length / verdicts.length;
}

function toKey({ caseId, case: { name, input } }: CaseResult): string {
  return caseId ?? JSON.stringify([name ?? null, input]);
}
