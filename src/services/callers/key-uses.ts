import type { Clock } from '#base/time/clock.ts';
import { RecurringTasks } from '#base/time/recurring-tasks.ts';

const writeIntervalMs = 5_000;

interface KeyUsesDeps {
  /** Kind of the keys, for reports of errors. */
  readonly kind: 'configured keys' | 'keys of users';
  readonly clock: Pick<Clock, 'epochMs'>;
  /** Stores the times of the last uses, in milliseconds since the epoch, by key. */
  readonly write: (uses: ReadonlyMap<string, number>) => Promise<void>;
  readonly reportError: (message: string, error: unknown) => void;
}

/** Collects when keys were last used, and stores the times every 5 s. */
export class KeyUses {
  readonly #deps: KeyUsesDeps;
  readonly #tasks: RecurringTasks;
  #uses = new Map<string, number>();

  constructor(deps: KeyUsesDeps) {
    this.#deps = deps;
    this.#tasks = new RecurringTasks(deps.reportError);
    this.#tasks.every(writeIntervalMs, `could not store when ${deps.kind} were last used`, () => this.#write());
  }

  record(key: string): void {
    this.#uses.set(key, this.#deps.clock.epochMs());
  }

  async close(): Promise<void> {
    this.#tasks.close();
    await this.#write().catch(() => undefined);
  }

  async #write(): Promise<void> {
    if (this.#uses.size === 0) return;
    const uses = this.#uses;
    this.#uses = new Map();
    await this.#deps.write(uses).catch((error) => {
      this.#uses = new Map([...uses, ...this.#uses]);
      throw error;
    });
  }
}
