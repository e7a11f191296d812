import type { Clock } from '#base/time/clock.ts';
import { Recurring } from '#base/time/recurring.ts';
import type { ResponseStore } from '#domain/responses/response-store.ts';
import type { NodeLife } from '../node/node-lease.ts';
import type { BackgroundRuns } from './background-runs.ts';
import { failedResponse } from './queued-run.ts';
import type { UnconfirmedWrites } from './unconfirmed-writes.ts';

export interface RunKeeperDeps {
  readonly responses: ResponseStore;
  readonly runs: BackgroundRuns;
  readonly life: NodeLife;
  readonly clock: Clock;
  readonly unconfirmed: UnconfirmedWrites;
  /** Whether other nodes may cancel or delete what this one answers. */
  readonly isShared: boolean;
  readonly noteFault: (message: string, thrown: unknown) => void;
}

/** How soon this node learns that another one ended a run of it, if nothing told it. */
const lookMs = 400;
const tendMs = 3_000;
const lookFault = 'runs of this node could not be looked up';
const sweepMs = 600_000;
/** What has expired is shown to nobody, and stays so long all the same: a request that goes on from it may still be under way. */
const goingOnMs = 3_600_000;
const lost = { code: 'server_error', message: 'The node that made this response is gone; send the request again.' };

/** Looks after responses that have not ended, on whatever node they began, and deletes those that have expired. */
export class RunKeeper {
  readonly #deps: RunKeeperDeps;
  readonly #recurring: Recurring;

  constructor(deps: RunKeeperDeps) {
    this.#deps = deps;
    this.#recurring = new Recurring(deps.noteFault);
    this.#recurring.nowAndEvery(tendMs, 'responses that have not ended could not be looked after', () => this.#tend());
    this.#recurring.every(sweepMs, 'responses that have expired could not be deleted', () => this.#sweep());
    if (deps.isShared) this.#recurring.every(lookMs, lookFault, () => this.#look());
  }

  async close(): Promise<void> {
    this.#recurring.close();
    await this.#deps.life.stop().catch(() => undefined);
  }

  /** Called when another node says that it ended a run; what the store says of it is done. */
  lookAfter(id: string): void {
    if (!this.#deps.runs.ids.has(id)) return;
    this.#look().catch((thrown) => this.#deps.noteFault(lookFault, thrown));
  }

  /** Ends runs whose node is gone, takes those that wait, and deletes what is kept though it was told not to be. */
  async #tend(): Promise<void> {
    const { responses, runs, clock, unconfirmed } = this.#deps;
    await unconfirmed.deleteFrom(responses);
    const fail: Parameters<ResponseStore['runs']['failLost']>[1] = (stored, next) => failedResponse(stored, lost, next);
    while ((await responses.runs.failLost(clock.epochMs(), fail)) > 0);
    const { room } = runs;
    if (room === 0) return;
    for (const place of await responses.runs.waiting(clock.epochMs(), room)) await runs.take(place);
  }

  async #sweep(): Promise<void> {
    await this.#deps.responses.sweep(this.#deps.clock.epochMs() - goingOnMs);
  }

  /** What began after the question was asked may be missing from its answer. */
  async #look(): Promise<void> {
    const { responses, runs, life } = this.#deps;
    const here = runs.ids;
    if (here.size === 0) return;
    const there = await responses.runs.ofNode(life.node);
    for (const id of here) if (!there.has(id)) runs.drop(id);
  }
}
