import type { Clock } from '#base/time/clock.ts';
import { Recurring } from '#base/time/recurring.ts';
import type { ResponseStore } from '#domain/responses/response-store.ts';
import type { NodeLease } from '../node/node-lease.ts';
import type { BackgroundRuns } from './background-runs.ts';
import { failedResponse } from './queued-run.ts';
import type { UnconfirmedWrites } from './unconfirmed-writes.ts';

export interface RunMaintenanceDeps {
  readonly responses: ResponseStore;
  readonly runs: BackgroundRuns;
  readonly lease: NodeLease;
  readonly clock: Clock;
  readonly unconfirmed: UnconfirmedWrites;
  /** Whether other nodes may cancel or delete what this one answers. */
  readonly isShared: boolean;
  readonly reportError: (message: string, error: unknown) => void;
}

/** How soon this node learns that another one ended a run of it, if nothing told it. */
const checkMs = 400;
const maintenanceMs = 3_000;
const checkErrorMessage = 'runs of this node could not be looked up';
const sweepMs = 600_000;
/** What has expired is shown to nobody, and stays so long all the same: a request that goes on from it may still be under way. */
const graceMs = 3_600_000;
const orphanedError = { code: 'server_error', message: 'The node that made this response is gone; send the request again.' };

/** Looks after responses that have not ended, on whatever node they began, and deletes those that have expired. */
export class RunMaintenance {
  readonly #deps: RunMaintenanceDeps;
  readonly #recurring: Recurring;

  constructor(deps: RunMaintenanceDeps) {
    this.#deps = deps;
    this.#recurring = new Recurring(deps.reportError);
    this.#recurring.startAndEvery(maintenanceMs, 'responses that have not ended could not be looked after', () =>
      this.#maintain(),
    );
    this.#recurring.every(sweepMs, 'responses that have expired could not be deleted', () => this.#sweep());
    if (deps.isShared) this.#recurring.every(checkMs, checkErrorMessage, () => this.#checkRunning());
  }

  async close(): Promise<void> {
    this.#recurring.close();
    await this.#deps.lease.stop().catch(() => undefined);
  }

  /** Called when another node says that it ended a run; what the store says of it is done. */
  checkRun(id: string): void {
    if (!this.#deps.runs.ids.has(id)) return;
    this.#checkRunning().catch((error) => this.#deps.reportError(checkErrorMessage, error));
  }

  /** Ends runs whose node is gone, takes those that wait, and deletes what is kept though it was told not to be. */
  async #maintain(): Promise<void> {
    const { responses, runs, clock, unconfirmed } = this.#deps;
    await unconfirmed.deleteFrom(responses);
    const toFailed: Parameters<ResponseStore['runs']['failOrphaned']>[1] = (stored, next) =>
      failedResponse(stored, orphanedError, next);
    while ((await responses.runs.failOrphaned(clock.epochMs(), toFailed)) > 0);
    const { capacity } = runs;
    if (capacity === 0) return;
    for (const ref of await responses.runs.listWaiting(clock.epochMs(), capacity)) await runs.claim(ref);
  }

  async #sweep(): Promise<void> {
    await this.#deps.responses.sweep(this.#deps.clock.epochMs() - graceMs);
  }

  /** What began after the question was asked may be missing from its answer. */
  async #checkRunning(): Promise<void> {
    const { responses, runs, lease } = this.#deps;
    const running = runs.ids;
    if (running.size === 0) return;
    const storedIds = await responses.runs.listRunning(lease.node);
    for (const id of running) if (!storedIds.has(id)) runs.drop(id);
  }
}
