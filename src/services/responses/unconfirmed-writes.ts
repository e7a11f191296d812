import type { Clock } from '#base/time/clock.ts';
import type { ResponseRef, ResponseStore, UnconfirmedWrite } from '#domain/responses/response-store.ts';

/** Maximum time between the end of the client's wait for a statement and its execution by the database. */
const settledMs = 10_000;
const maxWrites = 10_000;
const firstPauseMs = 2_000;
const maxPauseMs = 30_000;
/** Growth of the pauses. A pause is at most 2 s plus a tenth of the time since the first failure, and at most 30 s. */
const pauseGrowth = 1.1;

/**
 * Responses that the store may have written without a confirmation. Clients were informed that these are not stored, so no other
 * code ends or deletes them.
 */
export class UnconfirmedWrites {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #writes = new Map<string, UnconfirmedWrite & { readonly atMs: number }>();

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
  }

  add({ id, subject, createdAtMs }: UnconfirmedWrite): void {
    if (this.#writes.size < maxWrites) this.#writes.set(id, { id, subject, createdAtMs, atMs: this.#clock.nowMs() });
  }

  /** Excludes a response that is stored after all, because its client sent the request again. */
  remove({ id }: ResponseRef): void {
    this.#writes.delete(id);
  }

  /** Deletes the responses whose write can no longer take effect. Throws `StoreError`. The next call then deletes the rest. */
  async deleteFrom(responses: Pick<ResponseStore, 'deleteUnconfirmed'>, node: string): Promise<void> {
    for (const { atMs, ...write } of [...this.#writes.values()]) {
      if (this.#clock.nowMs() - atMs < settledMs) continue;
      await responses.deleteUnconfirmed(write, node);
      this.#writes.delete(write.id);
    }
  }
}

/**
 * Repeats a write until the store confirms it, at first every two seconds and later every 30 seconds. It does not give up while
 * the process runs, because no other node ends the responses of a live node. Never rejects.
 */
export async function retryUntilStored<Value>(clock: Pick<Clock, 'sleep'>, write: () => Promise<Value>): Promise<Value> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * pauseGrowth, maxPauseMs)) {
    await clock.sleep(pauseMs, new AbortController().signal);
    const result = await write().then(
      (value) => ({ value }),
      () => undefined,
    );
    if (result !== undefined) return result.value;
  }
}
