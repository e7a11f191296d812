import type { CaseResult, Evaluation, EvaluationStatus, StoredCase } from './evaluation.ts';

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
  results(id: string): Promise<readonly CaseResult[]>;
  /** Returns the IDs of the evaluations that the node must finish. */
  listRunning(node: string): Promise<ReadonlySet<string>>;
  /** Marks evaluations as failed if their node is gone. Returns their number. */
  failOrphaned(nowMs: number, error: string): Promise<number>;
}
