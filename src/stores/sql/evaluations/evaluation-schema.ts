/** Tables of cases and evaluations. Times are milliseconds since the epoch. */
export interface EvaluationSchema {
  readonly evaluation_cases: CaseRow;
  readonly evaluations: EvaluationRow;
  readonly evaluation_results: ResultRow;
}

export interface CaseRow {
  readonly id: string;
  readonly application: string;
  /** Its place among those of the application, from 1. */
  readonly version: number;
  /** JSON, sealed for the row's id. */
  readonly sealed_entry: string;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

export interface EvaluationRow {
  readonly id: string;
  readonly application: string;
  readonly version: number;
  readonly subject: string;
  readonly status: string;
  /** The node that runs it; null once it has ended. */
  readonly owner: string | null;
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly errors: number;
  /** Characters of its results. */
  readonly bytes: number;
  readonly started_at_ms: number;
  readonly ended_at_ms: number | null;
  readonly error: string | null;
  readonly cost_usd: number | null;
  readonly digest: string | null;
}

/** Goes with its evaluation. */
interface ResultRow {
  readonly evaluation: string;
  readonly nth: number;
  /** JSON, sealed for the evaluation's id and its place. */
  readonly sealed_entry: string;
}
