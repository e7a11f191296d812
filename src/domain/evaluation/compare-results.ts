import type { CaseResult, Outcome } from './evaluation.ts';

/** A case in two evaluations. */
export interface ComparedCase {
  readonly name: string;
  readonly before: CaseResult | undefined;
  readonly after: CaseResult | undefined;
  /** `new` and `gone`: the case is in one of them only. */
  readonly change: 'better' | 'worse' | 'same' | 'new' | 'gone';
  readonly isSameAnswer: boolean;
}

const rank: Readonly<Record<Outcome, number>> = { error: 0, failed: 1, passed: 2 };

/** The cases of two evaluations side by side, in the order of the later one, those that are gone last. A case is known by its id, else by its name and input. */
export function compareResults(before: readonly CaseResult[], after: readonly CaseResult[]): readonly ComparedCase[] {
  const left = new Map<string, CaseResult[]>();
  for (const result of before) left.set(keyOf(result), [...(left.get(keyOf(result)) ?? []), result]);
  const compared = after.map((result) => compare(left.get(keyOf(result))?.shift(), result));
  const gone = [...left.values()].flat().map((result) => compare(result, undefined));
  return [...compared, ...gone];
}

/** How a case is called for people: its name, else what is asked. */
export function nameOfCase({ case: { name, input }, nth }: Pick<CaseResult, 'case' | 'nth'>): string {
  if (name !== undefined) return name;
  const text = typeof input === 'string' ? input : input.at(-1)?.content;
  const line = typeof text === 'string' ? text.replaceAll(/\s+/g, ' ').trim() : '';
  if (line === '') return `Case ${nth + 1}`;
  return line.length <= 80 ? line : `${line.slice(0, 79)}…`;
}

function compare(before: CaseResult | undefined, after: CaseResult | undefined): ComparedCase {
  const either = (after ?? before) as CaseResult;
  return {
    name: nameOfCase(either),
    before,
    after,
    change: changeOf(before, after),
    isSameAnswer: before?.answer === after?.answer,
  };
}

/** Within one outcome, the checks that hold tell. */
function changeOf(before: CaseResult | undefined, after: CaseResult | undefined): ComparedCase['change'] {
  if (before === undefined) return 'new';
  if (after === undefined) return 'gone';
  const difference = rank[after.outcome] - rank[before.outcome] || share(after) - share(before);
  if (difference === 0) return 'same';
  return difference > 0 ? 'better' : 'worse';
}

function share({ verdicts }: CaseResult): number {
  return verdicts.length === 0 ? 0 : verdicts.filter(({ passed }) => passed).length / verdicts.length;
}

function keyOf({ caseId, case: { name, input } }: CaseResult): string {
  return caseId ?? JSON.stringify([name ?? null, input]);
}
