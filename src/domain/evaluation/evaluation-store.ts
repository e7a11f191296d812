import type { CaseResult, Evaluation, EvaluationStatus, StoredCase } from './evaluation.ts';

/** Port: cases of applications, which go with them. Each step is atomic, and durable once it resolves. Throws StoreFault. */
export interface CaseStore {
  /** In the order in which they were added. */
  list(application: string): Promise<readonly StoredCase[]>;
  find(id: string): Promise<StoredCase | undefined>;
  /** All or none: the application may be absent, or have no room for them. */
  add(cases: readonly StoredCase[]): Promise<'added' | 'absent' | 'full'>;
  /** Gives whether there was one. */
  replace(stored: StoredCase): Promise<boolean>;
  /** Gives whether there was one. */
  delete(id: string): Promise<boolean>;
}

/** How an evaluation ends. */
export interface EvaluationEnd extends Pick<Evaluation, 'error' | 'costUsd' | 'digest'> {
  readonly status: Exclude<EvaluationStatus, 'in_progress'>;
  readonly endedAtMs: number;
}

/** How many evaluations are kept. */
export interface EvaluationBounds {
  /** Of one application; the oldest make room. */
  readonly maxStored: number;
  /** Of all that one user started. */
  readonly maxBytes: number;
  /** That one user may have under way. */
  readonly maxInProgress: number;
}

/** Port: evaluations of applications, which go with them. Each step is atomic, and durable once it resolves. Throws StoreFault. */
export interface EvaluationStore {
  readonly cases: CaseStore;
  /** Keeps one that begins on a node, and makes room for it: the application may be absent, or too many be under way. */
  begin(evaluation: Evaluation, node: string, bounds: EvaluationBounds): Promise<'begun' | 'absent' | 'busy'>;
  /** Keeps a result and counts it; false if the evaluation is no longer this node's: then nothing is kept. */
  addResult(id: string, node: string, result: CaseResult): Promise<boolean>;
  /** False if it had ended already. */
  end(id: string, node: string, end: EvaluationEnd): Promise<boolean>;
  /** Ends one as cancelled, on whatever node it runs; false if it had ended already. */
  cancel(id: string, endedAtMs: number): Promise<boolean>;
  find(id: string): Promise<Evaluation | undefined>;
  /** The newest first. */
  list(application: string): Promise<readonly Evaluation[]>;
  /** In the order of the cases; those that are there yet. */
  results(id: string): Promise<readonly CaseResult[]>;
  /** Ids of those that a node is to finish. */
  listRunning(node: string): Promise<ReadonlySet<string>>;
  /** Ends those whose node is gone, as failed; gives how many there were. */
  failOrphaned(nowMs: number, error: string): Promise<number>;
}
