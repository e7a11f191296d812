import type { Kysely } from 'kysely';
import type { Clock } from '#base/time/clock.ts';
import { StoreError } from '#domain/store-error.ts';
import { NewerDatabaseError } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import type { ColumnTypes } from './column-types.ts';
import { toOperationReason } from './postgres-errors.ts';

export interface OpenOptions {
  /** Clock of this node. Default: the system clock. */
  readonly clock?: Pick<Clock, 'epochMs'>;
  /** Maximum duration of one operation including its waiting time, in milliseconds. Default: 5000. */
  readonly timeoutMs?: number;
}

/**
 * Acquires the lock for writes to a file that several processes use. Resolves with the function that releases the lock. SQLite
 * alone lets waiting writers poll, so a writer may never get its turn while another one writes continuously.
 */
export type AcquireWriteLock = () => Promise<() => void>;

/** An open database of Parley. */
export interface OpenDatabase {
  readonly database: SqlDatabase;
  /** Closes the connections. Every later operation throws `StoreError`. */
  close(): Promise<void>;
}

/** Reports whether a database on another machine is available. */
export interface AvailabilityMonitor {
  readonly isUnavailable: boolean;
  /** Called after a failed operation to check the availability. */
  check(): void;
}

export interface SqlDatabaseOptions {
  readonly engine: ColumnTypes['engine'];
  readonly timeoutMs: number;
  readonly availability?: AvailabilityMonitor;
  /** Converts a time by the clock of this node to a time by the clock of the database. */
  readonly toStoreMs?: (epochMs: number) => number;
}

/**
 * Access to the database for the stores. Every error of an operation is a `StoreError`, whose cause is the error of the engine.
 * While the database is known to be unavailable, operations fail immediately.
 */
export class SqlDatabase {
  readonly #kysely: Kysely<Schema>;
  readonly #options: SqlDatabaseOptions;

  constructor(kysely: Kysely<Schema>, options: SqlDatabaseOptions) {
    this.#kysely = kysely;
    this.#options = options;
  }

  get engine(): ColumnTypes['engine'] {
    return this.#options.engine;
  }

  /** Converts a time by the clock of this node to a time by the clock of the database, which the leases of all nodes use. */
  toStoreMs(epochMs: number): number {
    return this.#options.toStoreMs?.(epochMs) ?? epochMs;
  }

  /** Converts a time by the clock of the database to a time by the clock of this node. */
  toNodeMs(storeMs: number): number {
    return storeMs - this.toStoreMs(0);
  }

  /** Runs one statement, or several that need not be atomic. They are not started if the time limit expires while they wait. */
  run<Value>(work: (kysely: Kysely<Schema>) => Promise<Value>): Promise<Value> {
    return this.#runWithTimeLimit((deadline) =>
      this.#kysely.connection().execute((connection) => {
        deadline.throwIfExpired();
        return work(connection);
      }),
    );
  }

  /** Runs several statements that only read and that all see the same tables and data. Writers do not wait for them. */
  readSnapshot<Value>(work: (snapshot: Kysely<Schema>) => Promise<Value>): Promise<Value> {
    return this.#runWithTimeLimit((deadline) =>
      this.#kysely
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute((snapshot) => {
          deadline.throwIfExpired();
          return work(snapshot);
        }),
    );
  }

  /**
   * Runs several statements in one transaction. It is rolled back if the time limit expires. For an expected result that must
   * change nothing, call `rollBack`. It throws, and `transact` returns its value. Any other error counts as a failure of the
   * database.
   */
  transact<Value>(work: (transaction: Kysely<Schema>, rollBack: (value: Value) => never) => Promise<Value>): Promise<Value> {
    const rollBack = (value: Value): never => {
      throw new Rollback(value);
    };
    return this.#runWithTimeLimit((deadline) =>
      this.#kysely
        .transaction()
        .setIsolationLevel('read committed')
        .execute(async (transaction) => {
          const value = await work(transaction, rollBack);
          deadline.throwIfExpired();
          return value;
        })
        .catch((error: unknown) => {
          if (error instanceof Rollback) return error.value as Value;
          throw error;
        }),
    );
  }

  async #runWithTimeLimit<Value>(work: (deadline: Deadline) => Promise<Value>): Promise<Value> {
    const { availability, timeoutMs } = this.#options;
    if (availability?.isUnavailable) throw new StoreError('the database cannot be reached');
    const deadline = new Deadline(timeoutMs);
    try {
      return await deadline.race(work(deadline));
    } catch (cause) {
      if (cause instanceof StoreError) throw cause;
      availability?.check();
      const reason = deadline.isExpired ? `the database took more than ${timeoutMs} ms` : toOperationReason(cause);
      throw new StoreError(reason, { cause });
    }
  }
}

/** Rolls a transaction back and carries the value that it returns. */
class Rollback extends Error {
  readonly value: unknown;

  constructor(value: unknown) {
    super('the transaction is rolled back');
    this.value = value;
  }
}

/** Minimum delay of a timer that counts as a pause of the process, in milliseconds. */
const minPauseMs = 100;

/**
 * Time limit of an operation. A pause of the process does not count, because the database may have answered during it. The limit is
 * only a timer, because an abort signal costs as much as the rest of an operation.
 */
class Deadline {
  readonly #ms: number;
  isExpired = false;

  constructor(ms: number) {
    this.#ms = ms;
  }

  throwIfExpired(): void {
    if (this.isExpired) throw new Error('the time limit expired');
  }

  /** Settles with the work, or rejects as soon as the time limit expires. */
  race<Value>(work: Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout;
      const start = (ms: number): void => {
        const endsAtMs = performance.now() + ms;
        timer = setTimeout(() => {
          const lateMs = performance.now() - endsAtMs;
          if (lateMs > minPauseMs) return start(Math.min(lateMs, this.#ms));
          this.isExpired = true;
          reject(new Error('the time limit expired'));
        }, ms).unref();
      };
      start(this.#ms);
      work.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }
}

/** Returns the error to throw if opening a database fails. */
export function toOpenError(error: unknown): StoreError | NewerDatabaseError {
  return error instanceof NewerDatabaseError ? error : new StoreError('the database could not be opened', { cause: error });
}
