import type { EvaluationStore } from '#domain/evaluation/evaluation-store.ts';
import type { EvaluationRuns } from '#services/evaluation/evaluation-runs.ts';
import type { ApplicationDeps } from '../application-deps.ts';

/** What the routes of cases and evaluations work with. */
export interface EvaluationDeps extends Pick<ApplicationDeps, 'snapshot' | 'identify' | 'store' | 'clock' | 'noteAudit'> {
  readonly evaluations: EvaluationRuns;
  readonly results: EvaluationStore;
  /** Makes ids of cases. */
  readonly newId: () => string;
}
