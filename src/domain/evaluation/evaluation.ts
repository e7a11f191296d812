import type { JsonObject } from '#base/json/json.ts';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { EvaluationCase, EvaluationCheck } from '#contract/evaluation/evaluation-case.ts';

/** A case that belongs to an application. */
export interface StoredCase {
  readonly id: string;
  /** Id of the application. */
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
  /** Who started it, with whose rights it runs. */
  readonly subject: string;
  readonly status: EvaluationStatus;
  readonly total: number;
  /** Cases of which everything held, of which something did not, and that gave no answer. */
  readonly tally: Tally;
  readonly startedAtMs: number;
  readonly endedAtMs: number | undefined;
  /** Why it failed. */
  readonly error: string | undefined;
  /** What all answers cost; undefined until the end, or if a price is not known. */
  readonly costUsd: number | undefined;
  /** The same for what is the same each time: answers, tool runs, verdicts. Undefined until it is completed. */
  readonly digest: string | undefined;
}

interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly errors: number;
}

export type Outcome = 'passed' | 'failed' | 'error';

/** Whether one thing held. */
export interface Verdict {
  readonly check: EvaluationCheck;
  readonly passed: boolean;
  /** One sentence. */
  readonly reason: string;
}

/** One run of a tool, or a call of one that the caller is to run. */
export interface ToolRun {
  readonly tool: string;
  readonly arguments: unknown;
  readonly failed: boolean;
}

/** What became of one case. */
export interface CaseResult {
  /** Its place among the cases of the evaluation, from 0. */
  readonly nth: number;
  /** The stored case that it was; null for one that came with the request. */
  readonly caseId: string | null;
  /** As it was then. */
  readonly case: EvaluationCase;
  readonly outcome: Outcome;
  readonly verdicts: readonly Verdict[];
  readonly answer: string;
  readonly toolRuns: readonly ToolRun[];
  /** Why there is no answer. */
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly usage: readonly ModelUsage[];
  /** Undefined if a price is not known. */
  readonly costUsd?: number | undefined;
  readonly durationMs: number;
  /** Items of the trace (docs/quick-apps.md), as far as there is room for them. */
  readonly trace: readonly JsonObject[];
}
