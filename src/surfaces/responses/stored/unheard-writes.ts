import type { Clock } from '#base/time/clock.ts';
import type { ResponsePlace, ResponseStore } from '#domain/responses/response-store.ts';

interface Unheard extends ResponsePlace {
  readonly atMs: number;
}

/** So long a statement that nobody waits for any more may still be carried out. */
const settledMs = 10_000;
const mostNoted = 10_000;

/**
 * Responses that the store may have taken without this node hearing of it, whose callers were told that they are not kept:
 * nobody would ever end them, nor delete them.
 */
export class UnheardWrites {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #noted = new Map<string, Unheard>();

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
  }

  note({ id, subject }: ResponsePlace): void {
    if (this.#noted.size < mostNoted) this.#noted.set(id, { id, subject, atMs: this.#clock.nowMs() });
  }

  /** Deletes them, if they are there. Throws StoreFault; those that are left are deleted the next time. */
  async deleteFrom(responses: Pick<ResponseStore, 'delete'>): Promise<void> {
    for (const { atMs, ...place } of [...this.#noted.values()]) {
      if (this.#clock.nowMs() - atMs < settledMs) continue;
      await responses.delete(place);
      this.#noted.delete(place.id);
    }
  }
}
