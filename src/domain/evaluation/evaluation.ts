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
  /** Numbers of cases that passed all checks, that failed a check, and that returned no answer. */
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

/**
 * Port that stores cases of applications. They are deleted with their application. Each operation is atomic, and durable after
 * it resolves. Throws `StoreError`.
 */
export interface CaseStore {
  /** Returns the cases in the order in which they were added. */
  list(application: string): Promise<readonly StoredCase[]>;
  find(id: string): Promise<StoredCase | undefined>;
  /** Adds all cases or none. Returns `absent` if the application does not exist, or `full` if it has too many cases. */
  add(cases: readonly StoredCase[]): Promise<'added' | 'absent' | 'full'>;
  /** Returns whether the case existed. */
  replace(stored: StoredCase): Promise<boolean>;
  /** Returns whether the case existed. */
  delete(id: string): Promise<boolean>;
}

/** Final state of an evaluation. */
export interface EvaluationEnd extends Pick<Evaluation, 'error' | 'costUsd' | 'digest'> {
  readonly status: Exclude<EvaluationStatus, 'in_progress'>;
  readonly endedAtMs: number;
}

/** Storage limits for evaluations. */
export interface EvaluationBounds {
  /** Maximum number per application. New evaluations replace the oldest. */
  readonly maxStored: number;
  /** Maximum size of all evaluations that one user started. */
  readonly maxBytes: number;
  /** Maximum number of evaluations in progress per user. */
  readonly maxInProgress: number;
}

/**
 * Port that stores evaluations of applications. They are deleted with their application. Each operation is atomic, and durable
 * after it resolves. Throws `StoreError`.
 */
export interface EvaluationStore {
  readonly cases: CaseStore;
  /**
   * Stores an evaluation that starts on a node, and deletes old ones if necessary. Returns `absent` if the application does not
   * exist, or `busy` if too many evaluations are in progress.
   */
  begin(evaluation: Evaluation, node: string, bounds: EvaluationBounds): Promise<'begun' | 'absent' | 'busy'>;
  /** Stores and counts a result. Returns false and stores no data if the node no longer owns the evaluation. */
  addResult(id: string, node: string, result: CaseResult): Promise<boolean>;
  /** Returns false if the evaluation had already ended. */
  end(id: string, node: string, end: EvaluationEnd): Promise<boolean>;
  /** Cancels an evaluation on any node. Returns false if it had already ended. */
  cancel(id: string, endedAtMs: number): Promise<boolean>;
  find(id: string): Promise<Evaluation | undefined>;
  /** Returns the evaluations, newest first. */
  list(application: string): Promise<readonly Evaluation[]>;
  /** Returns the results available so far, in the order of the cases. */
  listResults(id: string): Promise<readonly CaseResult[]>;
  /** Returns the IDs of the evaluations that the node must finish. */
  listRunning(node: string): Promise<ReadonlySet<string>>;
  /** Marks evaluations as failed if their node is gone. Returns their number. */
  failOrphaned(nowMs: number, error: string): Promise<number>;
}
