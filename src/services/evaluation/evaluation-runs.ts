import { hash } from 'node:crypto';
import { truncate } from '#base/text/truncate.ts';
import { RecurringTasks } from '#base/time/recurring-tasks.ts';
import { ParleyError, toParleyError } from '#contract/errors/errors.ts';
import type { EvaluationCase } from '#contract/evaluation/evaluation-case.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { CaseResult, Evaluation, EvaluationEnd, EvaluationStore } from '#domain/evaluation/evaluation.ts';
import type { InFlightCalls } from '../node/in-flight-calls.ts';
import type { NodeLease } from '../node/node-lease.ts';
import { type CaseDeps, type CaseOutcome, runCase } from './run-case.ts';

export interface EvaluationRunsDeps extends Omit<EvaluationRunDeps, 'node'> {
  readonly lease: NodeLease;
  readonly inFlightCalls: InFlightCalls;
  /** Generates IDs of evaluations. */
  readonly newId: () => string;
  /** Whether other nodes can cancel evaluations of this node. */
  readonly isShared: boolean;
}

const maxRuns = 100;
const maxRunsPerUser = 3;
const orphanIntervalMs = 3_000;
/** Interval of the checks whether another node ended an evaluation of this node. */
const checkIntervalMs = 400;
const orphanedMessage = 'The node that ran this evaluation stopped. Start the evaluation again.';

/** Runs the evaluations of this node, and marks those of stopped nodes as failed. */
export class EvaluationRuns {
  readonly #deps: EvaluationRunsDeps;
  readonly #runsById = new Map<string, EvaluationRun>();
  readonly #tasks: RecurringTasks;

  constructor(deps: EvaluationRunsDeps) {
    this.#deps = deps;
    this.#tasks = new RecurringTasks(deps.reportError);
    this.#tasks.startAndEvery(orphanIntervalMs, 'could not maintain evaluations in progress', () => this.#failOrphaned());
    if (deps.isShared)
      this.#tasks.every(checkIntervalMs, 'could not check the evaluations of this node', () => this.#checkRunning());
  }

  /** Resolves after the evaluation has started. Throws `overloaded`, `shutting_down`, `deployment_not_found`, or `StoreError`. */
  async start(start: EvaluationStart): Promise<Evaluation> {
    const { lease, inFlightCalls, newId, clock } = this.#deps;
    if (inFlightCalls.isClosed) throw new ParleyError('shutting_down', 'This node is stopping. Try again.');
    if (this.#runsById.size >= maxRuns)
      throw createOverloadedError('This node runs the maximum number of evaluations. Try again later.');
    const { application, version, caller, cases } = start;
    const evaluation: Evaluation = {
      id: newId(),
      application,
      version,
      subject: caller.subject,
      status: 'in_progress',
      total: cases.length,
      tally: { passed: 0, failed: 0, errors: 0 },
      startedAtMs: clock.epochMs(),
      endedAtMs: undefined,
      error: undefined,
      costUsd: undefined,
      digest: undefined,
    };
    await lease.hold();
    try {
      await this.#begin(evaluation);
      this.#run(evaluation.id, start);
    } catch (error) {
      lease.release();
      throw error;
    }
    return evaluation;
  }

  /** Cancels an evaluation on any node. Resolves after the cancellation is stored. */
  async cancel(id: string): Promise<void> {
    const { store, clock } = this.#deps;
    this.#runsById.get(id)?.drop();
    await store.cancel(id, clock.epochMs());
  }

  async close(): Promise<void> {
    this.#tasks.close();
    for (const run of this.#runsById.values()) run.cancel(undefined);
    await Promise.all([...this.#runsById.values()].map(({ ended }) => ended));
    await this.#deps.lease.stop().catch(() => undefined);
  }

  async #begin(evaluation: Evaluation): Promise<void> {
    const { store, lease, snapshot } = this.#deps;
    const { keep: maxStored, maxBytesPerUser: maxBytes } = snapshot().configuration.evaluations;
    const outcome = await store.begin(evaluation, lease.node, { maxStored, maxBytes, maxInProgress: maxRunsPerUser });
    if (outcome === 'absent') throw new ParleyError('deployment_not_found', 'The application was deleted in the meantime.');
    if (outcome === 'busy')
      throw createOverloadedError(
        `You have ${maxRunsPerUser} evaluations in progress, which is the maximum. Wait for one to end, or cancel one.`,
        { isClientCaused: true },
      );
  }

  #run(id: string, start: EvaluationStart): void {
    const { lease, inFlightCalls } = this.#deps;
    const run = new EvaluationRun({ ...this.#deps, node: lease.node }, id, start);
    this.#runsById.set(id, run);
    inFlightCalls.add(run);
    void run.ended.then(() => {
      this.#runsById.delete(id);
      inFlightCalls.delete(run);
      lease.release();
    });
  }

  async #failOrphaned(): Promise<void> {
    const { store, clock } = this.#deps;
    await store.failOrphaned(clock.epochMs(), orphanedMessage);
  }

  /** Copies the running evaluations before the query, because the result may not contain later ones. */
  async #checkRunning(): Promise<void> {
    const running = new Map(this.#runsById);
    if (running.size === 0) return;
    const storedIds = await this.#deps.store.listRunning(this.#deps.lease.node);
    for (const [id, run] of running) if (!storedIds.has(id)) run.drop();
  }
}

function createOverloadedError(message: string, { isClientCaused = false } = {}): ParleyError {
  return new ParleyError('overloaded', message, { retryAfterSeconds: 5, isClientCaused });
}

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

interface EvaluationRunDeps extends CaseDeps {
  readonly store: EvaluationStore;
  readonly node: string;
  readonly reportError: (message: string, error: unknown) => void;
}

/** Maximum number of characters of the results of an evaluation, which are read together. Results beyond it are shortened. */
const maxResultChars = 32 * 1024 ** 2;
const maxBriefChars = 500;
const retryMs = 1000;
/** Maximum number of attempts to store the end if the node stops. Then another node, or the next start of this one, ends the run. */
const maxTriesOnStop = 2;
const stoppedMessage = 'The node that ran this evaluation was stopped. Start the evaluation again.';

/** An evaluation that runs on this node, with several cases at a time. */
export class EvaluationRun {
  slot = -1;
  /** Resolves when the run has ended and all attempts to store its end are done. Never rejects. */
  readonly ended: Promise<void>;
  readonly #deps: EvaluationRunDeps;
  readonly #id: string;
  readonly #start: EvaluationStart;
  readonly #stop = new AbortController();
  #next = 0;
  /** Digests of the reproducible parts of each result. */
  readonly #digests: string[] = [];
  #costUsd: number | undefined = 0;
  /** Characters of the results so far. */
  #chars = 0;
  /** Reason for a premature end that this node must store. */
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

  /** Ends the run because the node stops, or because the key of its caller is no longer valid. Then `reason` is the error of the key. */
  cancel(reason: unknown): void {
    const isKeyInvalid = reason instanceof ParleyError && reason.status === 401;
    this.#isNodeStopping ||= !isKeyInvalid;
    this.#fail(isKeyInvalid ? reason.message : stoppedMessage);
  }

  /** Ends the run without storing its end, because it was canceled, deleted, or marked as failed elsewhere. */
  drop(): void {
    this.#stop.abort();
  }

  #fail(message: string): void {
    this.#failure ??= message;
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
        this.#deps.reportError(`evaluation ${this.#id} failed`, error);
        this.#fail(toParleyError(error).message);
      }
    }
  }

  async #store(result: CaseResult): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#chars += JSON.stringify(result).length;
    const stored = this.#chars <= maxResultChars ? result : toBriefResult(result);
    if (!(await this.#deps.store.addResult(this.#id, this.#deps.node, stored))) return this.drop();
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
        if (tries === 0) reportError(`could not store the end of evaluation ${this.#id}. Parley retries`, error);
        await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
      }
    }
  }
}

/** Returns the result with truncated texts, and without tool runs and the trace. */
function toBriefResult({ answer, verdicts, ...result }: CaseResult): CaseResult {
  return {
    ...result,
    answer: truncate(answer, maxBriefChars),
    verdicts: verdicts.map(({ reason, ...verdict }) => ({ ...verdict, reason: truncate(reason, maxBriefChars) })),
    toolRuns: [],
    trace: [],
  };
}

/** Returns a digest of the reproducible parts of an outcome. Excludes the duration, the cost, and the reasons of verdicts. */
function toDigest({ case: evaluationCase, outcome, verdicts, answer, toolRuns, error }: CaseOutcome): string {
  const passedFlags = verdicts.map(({ passed }) => passed);
  return hash('sha256', JSON.stringify([evaluationCase, outcome, passedFlags, answer, toolRuns, error?.code ?? null]));
}
