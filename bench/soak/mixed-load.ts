import type { Kind } from './mix.ts';
import type { NodeClient } from './node-client.ts';

/** Number of runs and failures of one kind. */
export interface Tally {
  runs: number;
  failures: number;
  /** Statuses of failures. 0 stands for a broken connection. */
  readonly statuses: Set<number>;
}

const maxConcurrent = 200;
const createTally = (): Tally => ({ runs: 0, failures: 0, statuses: new Set() });

/** Runs calls at a steady rate, always in the same order. */
export class MixedLoad {
  readonly tallies: ReadonlyMap<string, Tally>;
  /** Number of runs that were skipped because too many were in progress. */
  skipped = 0;
  readonly #client: NodeClient;
  readonly #order: readonly Kind[];
  readonly #timer: NodeJS.Timeout;
  readonly #running = new Set<Promise<void>>();
  readonly #startedMs = performance.now();
  #index = 0;

  constructor(client: NodeClient, kinds: readonly Kind[], rate: number) {
    this.#client = client;
    this.#order = interleave(kinds);
    this.tallies = new Map(kinds.map(({ name }) => [name, createTally()]));
    this.#timer = setInterval(() => this.#startDue(rate), 10);
  }

  /** Starts no more runs and waits for those in progress. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#running);
  }

  #startDue(rate: number): void {
    const due = Math.floor(((performance.now() - this.#startedMs) * rate) / 1000);
    while (this.#index < due) {
      const index = this.#index++;
      const kind = this.#order[index % this.#order.length];
      if (kind === undefined || this.#running.size >= maxConcurrent) this.skipped += 1;
      else this.#start(kind, Math.floor(index / this.#order.length) * kind.weight + (index % kind.weight));
    }
  }

  #start(kind: Kind, index: number): void {
    const tally = this.tallies.get(kind.name) ?? createTally();
    tally.runs += 1;
    const running = kind
      .run(this.#client, index)
      .catch(() => [0])
      .then((unexpected) => {
        if (unexpected.length > 0) tally.failures += 1;
        for (const status of unexpected) tally.statuses.add(status);
        this.#running.delete(running);
      });
    this.#running.add(running);
  }
}

/** Repeats each kind according to its weight, evenly distributed over the round. */
function interleave(kinds: readonly Kind[]): readonly Kind[] {
  const positions = kinds.flatMap((kind) =>
    Array.from({ length: kind.weight }, (_, index) => ({ kind, at: (index + 0.5) / kind.weight })),
  );
  return positions.toSorted((left, right) => left.at - right.at).map(({ kind }) => kind);
}
