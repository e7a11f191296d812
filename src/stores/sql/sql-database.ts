import type { Kysely } from 'kysely';
import { untilAborted } from '#base/until-aborted.ts';
import { StoreFault } from '#domain/store-fault.ts';
import { NewerDatabase } from './migrate.ts';
import type { Schema } from './schema.ts';

export interface OpenOptions {
  /** Milliseconds that one step of a store may take, waiting for its turn included; 5000 if it is absent. */
  readonly timeoutMs?: number;
}

/** A database that is open, and has the tables of this program. */
export interface OpenDatabase {
  readonly database: SqlDatabase;
  /** Lets go of its connections; every later step is a StoreFault. */
  close(): Promise<void>;
}

/** Knows whether a database on another machine can be asked. */
export interface AvailabilityMonitor {
  readonly isAway: boolean;
  /** A step failed: is it still there? */
  doubt(): void;
}

/**
 * What the stores work on. Whatever goes wrong in a step is a StoreFault; the text of the engine is its cause only. While the
 * database is known to be away, steps fail at once.
 */
export class SqlDatabase {
  readonly #kysely: Kysely<Schema>;
  readonly #timeoutMs: number;
  readonly #availability: AvailabilityMonitor | undefined;

  constructor(kysely: Kysely<Schema>, timeoutMs: number, availability?: AvailabilityMonitor) {
    this.#kysely = kysely;
    this.#timeoutMs = timeoutMs;
    this.#availability = availability;
  }

  /** One statement, or several that need not happen together. They are not begun if their turn comes too late. */
  run<Value>(work: (kysely: Kysely<Schema>) => Promise<Value>): Promise<Value> {
    return this.#within((signal) =>
      this.#kysely.connection().execute((connection) => {
        signal.throwIfAborted();
        return work(connection);
      }),
    );
  }

  /** Several statements that happen all or not at all. What comes too late is rolled back. */
  transact<Value>(work: (transaction: Kysely<Schema>) => Promise<Value>): Promise<Value> {
    return this.#within((signal) =>
      this.#kysely
        .transaction()
        .setIsolationLevel('read committed')
        .execute(async (transaction) => {
          const value = await work(transaction);
          signal.throwIfAborted();
          return value;
        }),
    );
  }

  async #within<Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    if (this.#availability?.isAway) throw new StoreFault('the database cannot be reached');
    const signal = AbortSignal.timeout(this.#timeoutMs);
    try {
      return await untilAborted(work(signal), signal);
    } catch (cause) {
      if (cause instanceof StoreFault) throw cause;
      this.#availability?.doubt();
      const isLate = signal.aborted;
      throw new StoreFault(isLate ? `the database took more than ${this.#timeoutMs} ms` : 'the database failed', { cause });
    }
  }
}

/** What opening a database fails with. */
export function openingFault(thrown: unknown): StoreFault | NewerDatabase {
  return thrown instanceof NewerDatabase ? thrown : new StoreFault('the database could not be opened', { cause: thrown });
}
