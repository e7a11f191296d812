import { type ComparedCase, compareResults } from '#domain/evaluation/compare-results.ts';
import type { CaseResult, Evaluation, StoredCase } from '#domain/evaluation/evaluation.ts';

export function toCaseItem({ id, case: entry, createdAtMs, updatedAtMs }: StoredCase): object {
  return { id, ...entry, createdAt: createdAtMs, updatedAt: updatedAtMs };
}

export function toEvaluationItem({ id, version, status, total, tally, digest, error, costUsd, ...times }: Evaluation): object {
  return {
    ...{ id, version, status, total, ...tally },
    startedAt: times.startedAtMs,
    endedAt: times.endedAtMs ?? null,
    costUsd: costUsd ?? null,
    digest: digest ?? null,
    error: error ?? null,
  };
}

export function toResultItem({ costUsd, ...result }: CaseResult): object {
  return { ...result, costUsd: costUsd ?? null };
}

interface Side {
  readonly evaluation: Evaluation;
  readonly results: readonly CaseResult[];
}

export function toComparisonItem(before: Side, after: Side): object {
  const cases = compareResults(before.results, after.results);
  const count = (change: ComparedCase['change']): number => cases.filter((item) => item.change === change).length;
  return {
    before: toEvaluationItem(before.evaluation),
    after: toEvaluationItem(after.evaluation),
    ...{ better: count('better'), worse: count('worse'), same: count('same'), new: count('new'), gone: count('gone') },
    otherAnswers: cases.filter(({ before: first, after: two, isSameAnswer }) => first && two && !isSameAnswer).length,
    cases: cases.map(({ before: first, after: two, ...details }) => ({ ...details, before: toSide(first), after: toSide(two) })),
  };
}

function toSide(result: CaseResult | undefined): object | null {
  if (result === undefined) return null;
  const { outcome, verdicts, answer, error, costUsd, durationMs } = result;
  return { outcome, verdicts, answer, error, costUsd: costUsd ?? null, durationMs };
}
