import type { Kysely } from 'kysely';
import { StoreError } from '#domain/store-error.ts';
import { NewerDatabase } from '../migrate.ts';
import type { Schema } from '../schema.ts';

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
  check(): void;
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
    return this.#within((deadline) =>
      this.#kysely.connection().execute((connection) => {
        deadline.throwIfExpired();
        return work(connection);
      }),
    );
  }

  /** Several statements that happen all or not at all. What comes too late is rolled back. */
  transact<Value>(work: (transaction: Kysely<Schema>) => Promise<Value>): Promise<Value> {
    return this.#within((deadline) =>
      this.#kysely
        .transaction()
        .setIsolationLevel('read committed')
        .execute(async (transaction) => {
          const value = await work(transaction);
          deadline.throwIfExpired();
          return value;
        }),
    );
  }

  async #within<Value>(work: (deadline: Deadline) => Promise<Value>): Promise<Value> {
    if (this.#availability?.isAway) throw new StoreError('the database cannot be reached');
    const deadline = new Deadline(this.#timeoutMs);
    try {
      return await deadline.hold(work(deadline));
    } catch (cause) {
      if (cause instanceof StoreError) throw cause;
      this.#availability?.check();
      throw new StoreError(deadline.isExpired ? `the database took more than ${this.#timeoutMs} ms` : 'the database failed', {
        cause,
      });
    }
  }
}

/** How long a step may take. Each has one, so it is a timer and nothing more: signals cost as much as the rest of a step. */
class Deadline {
  readonly #ms: number;
  #isExpired = false;

  constructor(ms: number) {
    this.#ms = ms;
  }

  get isExpired(): boolean {
    return this.#isExpired;
  }

  throwIfExpired(): void {
    if (this.#isExpired) throw new Error('the time is over');
  }

  /** The outcome of the work, or a rejection as soon as the time is over. */
  hold<Value>(work: Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#isExpired = true;
        reject(new Error('the time is over'));
      }, this.#ms).unref();
      work.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }
}

/** What opening a database fails with. */
export function toOpenError(error: unknown): StoreError | NewerDatabase {
  return error instanceof NewerDatabase ? error : new StoreError('the database could not be opened', { cause: error });
}
