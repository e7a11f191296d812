import { type ComparedCase, compareResults } from '#domain/evaluation/compare-results.ts';
import type { CaseResult, Evaluation, StoredCase } from '#domain/evaluation/evaluation.ts';

export function toShownCase({ id, case: entry, createdAtMs, updatedAtMs }: StoredCase): object {
  return { id, ...entry, createdAt: createdAtMs, updatedAt: updatedAtMs };
}

export function toShownEvaluation({ id, version, status, total, tally, digest, error, costUsd, ...times }: Evaluation): object {
  return {
    ...{ id, version, status, total, ...tally },
    startedAt: times.startedAtMs,
    endedAt: times.endedAtMs ?? null,
    costUsd: costUsd ?? null,
    digest: digest ?? null,
    error: error ?? null,
  };
}

export function toShownResult({ costUsd, ...result }: CaseResult): object {
  return { ...result, costUsd: costUsd ?? null };
}

/** An evaluation and its results. */
interface Side {
  readonly evaluation: Evaluation;
  readonly results: readonly CaseResult[];
}

export function toShownComparison(before: Side, after: Side): object {
  const cases = compareResults(before.results, after.results);
  const count = (change: ComparedCase['change']): number => cases.filter((each) => each.change === change).length;
  return {
    before: toShownEvaluation(before.evaluation),
    after: toShownEvaluation(after.evaluation),
    ...{ better: count('better'), worse: count('worse'), same: count('same'), new: count('new'), gone: count('gone') },
    otherAnswers: cases.filter(({ before: one, after: two, isSameAnswer }) => one && two && !isSameAnswer).length,
    cases: cases.map(({ before: one, after: two, ...told }) => ({ ...told, before: toSide(one), after: toSide(two) })),
  };
}

function toSide(result: CaseResult | undefined): object | null {
  if (result === undefined) return null;
  const { outcome, verdicts, answer, error, costUsd, durationMs } = result;
  return { outcome, verdicts, answer, error, costUsd: costUsd ?? null, durationMs };
}
