import type { EvaluationCase } from '#contract/evaluation/evaluation-case.ts';
import type { Caller } from '../callers/caller.ts';
import type { Evaluation } from './evaluation.ts';

/** An evaluation that is to begin. */
export interface EvaluationStart {
  readonly caller: Caller;
  /** Id of the application, and as callers are told it. */
  readonly application: string;
  readonly shownId: string;
  readonly version: number;
  readonly cases: readonly { readonly id: string | null; readonly case: EvaluationCase }[];
  /** Cases at once; undefined: as many as the configuration lets. */
  readonly parallel: number | undefined;
}

/** Runs cases against applications. */
export interface Evaluations {
  /** Resolves once it has begun. Throws `overloaded`, `deployment_not_found`, or StoreFault. */
  start(start: EvaluationStart): Promise<Evaluation>;
  /** Ends one, wherever it runs; resolves once that is kept. */
  cancel(id: string): Promise<void>;
}
