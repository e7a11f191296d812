import type { JsonObject } from '#base/json/json.ts';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { EvaluationCase, EvaluationCheck } from '#contract/evaluation/evaluation-case.ts';

/** A case that belongs to an application. */
export interface StoredCase {
  readonly id: string;
  /** ID of the application. */
  readonly application: string;
  readonly case: EvaluationCase;
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export type EvaluationStatus = 'in_progress' | 'completed' | 'cancelled' | 'failed';

/** A run of cases against one version of an application. Times are milliseconds since the epoch. */
export interface Evaluation {
  readonly id: string;
  readonly application: string;
  readonly version: number;
  /** Subject of the user who started it. It runs with the rights of this user. */
  readonly subject: string;
  readonly status: EvaluationStatus;
  readonly total: number;
  /** Number of cases that passed all checks, that failed a check, and that returned no answer. */
  readonly tally: Tally;
  readonly startedAtMs: number;
  readonly endedAtMs: number | undefined;
  /** Reason for the failure. */
  readonly error: string | undefined;
  /** Cost of all answers. Undefined until the end, or if a price is unknown. */
  readonly costUsd: number | undefined;
  /**
   * Digest of answers, tool runs, and verdicts. Equal results have equal digests. Undefined until the evaluation is completed.
   */
  readonly digest: string | undefined;
}

interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly errors: number;
}

export type Outcome = 'passed' | 'failed' | 'error';

/** Result of one check. */
export interface Verdict {
  readonly check: EvaluationCheck;
  readonly passed: boolean;
  /** Reason in one sentence. */
  readonly reason: string;
}

/** A tool run, or a call of a tool that the client must run. */
export interface ToolRun {
  readonly tool: string;
  readonly arguments: unknown;
  readonly failed: boolean;
}

/** Result of one case. */
export interface CaseResult {
  /** Index of the case in the evaluation, starting at 0. */
  readonly nth: number;
  /** ID of the stored case. Null for a case from the request. */
  readonly caseId: string | null;
  /** Content of the case at the time of the evaluation. */
  readonly case: EvaluationCase;
  readonly outcome: Outcome;
  readonly verdicts: readonly Verdict[];
  readonly answer: string;
  readonly toolRuns: readonly ToolRun[];
  /** Reason for the missing answer. */
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly usage: readonly ModelUsage[];
  /** Undefined if a price is unknown. */
  readonly costUsd?: number | undefined;
  readonly durationMs: number;
  /** Items of the trace (docs/quick-apps.md), truncated to the size limit. */
  readonly trace: readonly JsonObject[];
}
