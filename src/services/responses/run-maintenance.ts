import { RecurringTasks } from '#base/time/recurring-tasks.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { toFailedChatRun } from '#domain/responses/chat-run.ts';
import type { ResponseStore } from '#domain/responses/response-store.ts';
import type { BackgroundRuns } from './background-runs.ts';
import type { ResponseStorageDeps } from './database-response.ts';
import { toFailedResponse } from './queued-run.ts';

export interface RunMaintenanceDeps
  extends Pick<ResponseStorageDeps, 'responses' | 'lease' | 'clock' | 'unconfirmed' | 'reportError'> {
  readonly runs: BackgroundRuns;
  /** Whether other nodes can cancel or delete responses of this node. */
  readonly isShared: boolean;
}

/** Interval of the checks whether another node ended a run of this node. Covers lost notices. */
const checkIntervalMs = 400;
const maintenanceIntervalMs = 3_000;
const checkErrorMessage = 'could not check the background responses of this node';
const sweepIntervalMs = 600_000;
/**
 * Time between expiry and deletion. Clients can no longer read an expired response, but a request that continues it may still
 * be in progress.
 */
const graceMs = 3_600_000;
const orphanedChatRun = new ParleyError('node_lost', 'The node that was answering stopped. Send the request again.');
const orphanedError = { code: 'server_error', message: 'The node of this response stopped. Send the request again.' };

/** Continues or ends the responses of stopped nodes, and deletes expired responses. Each node does this for all nodes. */
export class RunMaintenance {
  readonly #deps: RunMaintenanceDeps;
  readonly #tasks: RecurringTasks;

  constructor(deps: RunMaintenanceDeps) {
    this.#deps = deps;
    this.#tasks = new RecurringTasks(deps.reportError);
    this.#tasks.startAndEvery(maintenanceIntervalMs, 'could not maintain responses in progress', () => this.#maintain());
    this.#tasks.every(sweepIntervalMs, 'could not delete expired responses', async () => {
      await deps.responses.sweep(deps.clock.epochMs() - graceMs);
    });
    if (deps.isShared) this.#tasks.every(checkIntervalMs, checkErrorMessage, () => this.#checkRunning());
  }

  async close(): Promise<void> {
    this.#tasks.close();
    await this.#deps.lease.stop().catch(() => undefined);
  }

  /** Called when another node reports that it ended a run. The state in the store decides. */
  checkRun(id: string): void {
    if (!this.#deps.runs.ids.has(id)) return;
    this.#checkRunning().catch((error) => this.#deps.reportError(checkErrorMessage, error));
  }

  /** Ends runs of stopped nodes, claims queued runs, and deletes stored responses whose write was reported as failed. */
  async #maintain(): Promise<void> {
    const { responses, runs, clock, lease, unconfirmed } = this.#deps;
    await unconfirmed.deleteFrom(responses, lease.node);
    const toFailed: Parameters<ResponseStore['runs']['failOrphaned']>[1] = (stored, next) =>
      stored.isChatRun === true ? toFailedChatRun(stored, orphanedChatRun, next) : toFailedResponse(stored, orphanedError, next);
    while ((await responses.runs.failOrphaned(clock.epochMs(), toFailed)) > 0);
    const { capacity } = runs;
    if (capacity === 0) return;
    for (const ref of await responses.runs.listWaiting(clock.epochMs(), capacity)) await runs.claim(ref);
  }

  /** Copies the IDs before the query, because the result may not contain runs that start later. */
  async #checkRunning(): Promise<void> {
    const { responses, runs, lease } = this.#deps;
    const running = runs.ids;
    if (running.size === 0) return;
    const storedIds = await responses.runs.listRunning(lease.node);
    for (const id of running) if (!storedIds.has(id)) runs.drop(id);
  }
}
