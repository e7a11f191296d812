import { hash } from 'node:crypto';
import { ParleyError, toParleyError } from '#contract/errors/errors.ts';
import type { EvaluationCase } from '#contract/evaluation/evaluation-case.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { CaseResult } from '#domain/evaluation/evaluation.ts';
import type { EvaluationEnd, EvaluationStore } from '#domain/evaluation/evaluation-store.ts';
import { type CaseDeps, type CaseOutcome, runCase } from './run-case.ts';

/** An evaluation to start. */
export interface EvaluationStart {
  readonly caller: Caller;
  readonly application: string;
  /** ID of the application as clients see it. */
  readonly publicId: string;
  readonly version: number;
  readonly cases: readonly { readonly id: string | null; readonly case: EvaluationCase }[];
  /** Number of cases that run concurrently. If undefined, the maximum of the configuration. */
  readonly parallel: number | undefined;
}

export interface EvaluationRunDeps extends CaseDeps {
  readonly store: EvaluationStore;
  readonly node: string;
  readonly reportError: (message: string, error: unknown) => void;
}

const retryMs = 1000;
/** Number of attempts to store the end if the node stops. Another node, or the next start of this one, can end the run. */
const maxTriesOnStop = 2;
const stoppedMessage = 'The node that ran this evaluation was stopped. Start the evaluation again.';

/** An evaluation that runs on this node, with several cases at a time. */
export class EvaluationRun {
  slot = -1;
  /** Resolves after the end is stored. Never rejects. */
  readonly ended: Promise<void>;
  readonly #deps: EvaluationRunDeps;
  readonly #id: string;
  readonly #start: EvaluationStart;
  readonly #stop = new AbortController();
  #next = 0;
  /** Digests of the reproducible parts of each result. */
  readonly #digests: string[] = [];
  #costUsd: number | undefined = 0;
  /** Reason for a premature end. Undefined if this node must not store it. */
  #failure: string | undefined;
  #isNodeStopping = false;

  constructor(deps: EvaluationRunDeps, id: string, start: EvaluationStart) {
    this.#deps = deps;
    this.#id = id;
    this.#start = start;
    this.ended = this.#run();
  }

  get caller(): Caller {
    return this.#start.caller;
  }

  /** Ends the run because the node stops, or because its key is no longer valid. `reason` contains the error of the key. */
  cancel(reason: unknown): void {
    const isKeyInvalid = reason instanceof ParleyError && reason.status === 401;
    this.#isNodeStopping ||= !isKeyInvalid;
    this.#fail(isKeyInvalid ? reason.message : stoppedMessage);
  }

  /** Ends the run without storing its end, because it was canceled, deleted, or marked as failed elsewhere. */
  drop(): void {
    this.#stop.abort();
  }

  #fail(why: string): void {
    this.#failure ??= why;
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    const { maxParallel } = this.#deps.snapshot().configuration.evaluations;
    const { cases, parallel = maxParallel } = this.#start;
    const workers = Math.min(parallel, maxParallel, cases.length);
    await Promise.all(Array.from({ length: workers }, () => this.#work()));
    if (!this.#stop.signal.aborted) await this.#end({ status: 'completed', error: undefined });
    else if (this.#failure !== undefined) await this.#end({ status: 'failed', error: this.#failure });
  }

  async #work(): Promise<void> {
    const { signal } = this.#stop;
    const { cases, caller, publicId: deployment, version } = this.#start;
    while (!signal.aborted && this.#next < cases.length) {
      const index = this.#next;
      this.#next += 1;
      const current = cases[index];
      if (current === undefined) return;
      try {
        const caseOutcome = await runCase(this.#deps, { case: current.case, caller, deployment, version, signal });
        await this.#store({ nth: index, caseId: current.id, ...caseOutcome });
      } catch (error) {
        if (signal.aborted) return;
        this.#deps.reportError(`Evaluation ${this.#id} failed`, error);
        this.#fail(toParleyError(error).message);
      }
    }
  }

  async #store(result: CaseResult): Promise<void> {
    if (this.#stop.signal.aborted) return;
    if (!(await this.#deps.store.addResult(this.#id, this.#deps.node, result))) return this.drop();
    this.#digests[result.nth] = toDigest(result);
    const { costUsd } = result;
    this.#costUsd = costUsd === undefined || this.#costUsd === undefined ? undefined : this.#costUsd + costUsd;
  }

  /** Stores the end. Retries until the store is available, because no other node ends the runs of a live node. */
  async #end(outcome: Pick<EvaluationEnd, 'status' | 'error'>): Promise<void> {
    const { store, node, clock, reportError } = this.#deps;
    const isComplete = outcome.status === 'completed';
    const digest = isComplete ? hash('sha256', this.#digests.join('\n')) : undefined;
    const end = { ...outcome, endedAtMs: clock.epochMs(), costUsd: isComplete ? this.#costUsd : undefined, digest };
    for (let tries = 0; !this.#isNodeStopping || tries < maxTriesOnStop; tries += 1) {
      try {
        await store.end(this.#id, node, end);
        return;
      } catch (error) {
        if (tries === 0) reportError(`Could not store the end of evaluation ${this.#id}. Parley retries`, error);
        await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
      }
    }
  }
}

/** Excludes times and the reasons of judges. */
function toDigest({ case: evaluationCase, outcome, verdicts, answer, toolRuns, error }: CaseOutcome): string {
  const passedFlags = verdicts.map(({ passed }) => passed);
  return hash('sha256', JSON.stringify([evaluationCase, outcome, passedFlags, answer, toolRuns, error?.code ?? null]));
}
