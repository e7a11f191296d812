import { Recurring } from '#base/time/recurring.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Evaluation } from '#domain/evaluation/evaluation.ts';
import type { InFlightCalls } from '../node/in-flight-calls.ts';
import type { NodeLease } from '../node/node-lease.ts';
import { EvaluationRun, type EvaluationRunDeps, type EvaluationStart } from './evaluation-run.ts';

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
const failOrphanedMs = 3_000;
/** Interval at which this node checks whether another node ended one of its evaluations. */
const checkMs = 400;
const orphanedMessage = 'The node that ran this evaluation stopped. Start the evaluation again.';

/** Runs the evaluations of this node, and marks those of stopped nodes as failed. */
export class EvaluationRuns {
  readonly #deps: EvaluationRunsDeps;
  readonly #running = new Map<string, EvaluationRun>();
  readonly #recurring: Recurring;

  constructor(deps: EvaluationRunsDeps) {
    this.#deps = deps;
    this.#recurring = new Recurring(deps.reportError);
    this.#recurring.startAndEvery(failOrphanedMs, 'could not maintain evaluations in progress', () => this.#failOrphaned());
    if (deps.isShared) this.#recurring.every(checkMs, 'could not check the evaluations of this node', () => this.#checkRunning());
  }

  /** Resolves after the evaluation has started. Throws `overloaded`, `shutting_down`, `deployment_not_found`, or `StoreError`. */
  async start(start: EvaluationStart): Promise<Evaluation> {
    const { lease, inFlightCalls, newId, clock } = this.#deps;
    if (inFlightCalls.isClosed) throw new ParleyError('shutting_down', 'This node is stopping. Try again.');
    if (this.#running.size >= maxRuns) throw overloaded('This node runs the maximum number of evaluations. Try again later.');
    const { application, version, caller, cases } = start;
    const evaluation: Evaluation = {
      ...{ id: newId(), application, version, subject: caller.subject, status: 'in_progress', total: cases.length },
      tally: { passed: 0, failed: 0, errors: 0 },
      startedAtMs: clock.epochMs(),
      ...{ endedAtMs: undefined, error: undefined, costUsd: undefined, digest: undefined },
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
    this.#running.get(id)?.drop();
    await store.cancel(id, clock.epochMs());
  }

  async close(): Promise<void> {
    this.#recurring.close();
    for (const run of this.#running.values()) run.cancel(undefined);
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
    await this.#deps.lease.stop().catch(() => undefined);
  }

  async #begin(evaluation: Evaluation): Promise<void> {
    const { store, lease, snapshot } = this.#deps;
    const { keep: maxStored, maxBytesPerUser: maxBytes } = snapshot().configuration.evaluations;
    const outcome = await store.begin(evaluation, lease.node, { maxStored, maxBytes, maxInProgress: maxRunsPerUser });
    if (outcome === 'absent') throw new ParleyError('deployment_not_found', 'The application was deleted in the meantime.');
    if (outcome === 'busy')
      throw overloaded(
        `You have ${maxRunsPerUser} evaluations in progress, which is the maximum. Wait for one to end, or cancel one.`,
      );
  }

  #run(id: string, start: EvaluationStart): void {
    const { lease, inFlightCalls } = this.#deps;
    const run = new EvaluationRun({ ...this.#deps, node: lease.node }, id, start);
    this.#running.set(id, run);
    inFlightCalls.add(run);
    void run.ended.then(() => {
      this.#running.delete(id);
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
    const running = new Map(this.#running);
    if (running.size === 0) return;
    const storedIds = await this.#deps.store.listRunning(this.#deps.lease.node);
    for (const [id, run] of running) if (!storedIds.has(id)) run.drop();
  }
}

function overloaded(message: string): ParleyError {
  return new ParleyError('overloaded', message, { retryAfterSeconds: 5 });
}
