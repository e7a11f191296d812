import { once } from 'node:events';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { migrate } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import {
  type AcquireWriteLock,
  type AvailabilityMonitor,
  type OpenDatabase,
  type OpenOptions,
  SqlDatabase,
  toOpenError,
} from './sql-database.ts';

/** A database that reports whether it accepts writes. */
export interface OpenSqlite extends OpenDatabase {
  /** Whether the last trial write succeeded. True if there was none. */
  readonly isWritable: () => boolean;
}

const noCallbacks: SqliteCallbacks = { onOutage: () => undefined, onRecovery: () => undefined };

/**
 * Default time limit of an operation, in milliseconds. A busy disk can need seconds for one sync, and no other database could take
 * over, so that a call that waits is better than one that fails.
 */
const defaultTimeoutMs = 20_000;

/**
 * Opens the database of one machine. Creates the file and its folder if necessary, accessible only to the user of the process. A
 * write is on disk when it is acknowledged. Throws `StoreError` or `NewerDatabaseError`.
 */
export async function openSqlite(
  file: string,
  {
    timeoutMs = defaultTimeoutMs,
    acquireWriteLock,
  }: OpenOptions & { readonly acquireWriteLock?: AcquireWriteLock | undefined } = {},
  callbacks: SqliteCallbacks = noCallbacks,
): Promise<OpenSqlite> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await (await open(file, 'a', 0o600)).close();
    const thread = await SqliteThread.open({ file, timeoutMs });
    const kysely = new Kysely<Schema>({ dialect: createDialect(thread, acquireWriteLock) });
    // No further lock is needed, because the transaction holds the write lock from its beginning.
    await migrate(kysely, { types: { engine: 'sqlite', key: 'text' }, lock: async () => undefined }).catch(async (error) => {
      await kysely.destroy();
      throw error;
    });
    const availability = new SqliteAvailabilityMonitor(() => tryWrite(kysely), callbacks);
    const close = (): Promise<void> => {
      availability.stop();
      return kysely.destroy();
    };
    const database = new SqlDatabase(kysely, { engine: 'sqlite', timeoutMs, availability });
    return { database, close, isWritable: () => availability.isWritable };
  } catch (error) {
    throw toOpenError(error);
  }
}

/** Writes and removes 64 KiB. A smaller change could succeed on a full disk. */
async function tryWrite(kysely: Kysely<Schema>): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    await sql`create table if not exists parley_trial (content blob)`.execute(transaction);
    await sql`insert into parley_trial (content) values (zeroblob(65536))`.execute(transaction);
  });
  // Another process may have dropped the table.
  await sql`drop table if exists parley_trial`.execute(kysely);
}

const retryMs = 1_000;

interface SqliteCallbacks {
  /** Called once for each outage of writes. */
  readonly onOutage: (error: unknown) => void;
  readonly onRecovery: () => void;
}

/**
 * Tries to write after a failed operation, and then every second until it succeeds. Writes fail if a disk is full or was removed.
 * Operations are not blocked in the meantime, because reads still work.
 */
class SqliteAvailabilityMonitor implements AvailabilityMonitor {
  readonly isUnavailable = false;
  readonly #tryWrite: () => Promise<unknown>;
  readonly #callbacks: SqliteCallbacks;
  isWritable = true;
  #isTrying = false;
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(tryWrite: () => Promise<unknown>, callbacks: SqliteCallbacks) {
    this.#tryWrite = tryWrite;
    this.#callbacks = callbacks;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#isStopped = true;
  }

  readonly check = (): void => void this.#retry();

  async #retry(): Promise<void> {
    if (this.#isTrying || this.#isStopped) return;
    this.#isTrying = true;
    clearTimeout(this.#timer);
    const wasWritable = this.isWritable;
    try {
      await this.#tryWrite();
      this.isWritable = true;
      if (!wasWritable) this.#callbacks.onRecovery();
    } catch (error) {
      this.isWritable = false;
      if (wasWritable) this.#callbacks.onOutage(error);
    }
    this.#isTrying = false;
    if (!this.isWritable && !this.#isStopped) this.#timer = setTimeout(this.check, retryMs).unref();
  }
}

/**
 * Adapter without the lock of kysely for its only connection. Each release of that lock wakes all waiting operations, so that
 * 10,000 of them block the event loop for seconds. The driver lets the operations take turns.
 */
class LocklessSqliteAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/** Connects kysely to SQLite in its thread. */
function createDialect(thread: SqliteThread, acquireWriteLock: AcquireWriteLock | undefined): Dialect {
  return {
    createDriver: () => createDriver(thread, acquireWriteLock),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new LocklessSqliteAdapter(),
    createIntrospector: (database) => new SqliteIntrospector(database),
  };
}

function createDriver(thread: SqliteThread, acquireWriteLock: AcquireWriteLock | undefined): Driver {
  let lastTurn = Promise.resolve();
  return {
    init: async () => undefined,
    acquireConnection: async () => {
      const previousTurn = lastTurn;
      const { promise, resolve: endTurn } = Promise.withResolvers<void>();
      lastTurn = promise;
      await previousTurn;
      return new ThreadConnection(thread, { acquireWriteLock, endTurn });
    },
    beginTransaction: (connection: ThreadConnection, { accessMode }) =>
      accessMode === 'read only' ? connection.beginSnapshot() : connection.begin(),
    commitTransaction: (connection: ThreadConnection) => connection.end('commit'),
    // SQLite already rolled back after some errors, such as a full disk. A second rollback must not hide them.
    rollbackTransaction: (connection: ThreadConnection) => connection.end('rollback').catch(() => undefined),
    releaseConnection: async (connection: ThreadConnection) => connection.endTurn(),
    destroy: () => thread.close(),
  };
}

const readStatement = /^\s*(select|pragma)\b/i;

class ThreadConnection implements DatabaseConnection {
  /** Lets the next operation have its turn. */
  readonly endTurn: () => void;
  readonly #thread: SqliteThread;
  readonly #acquireWriteLock: AcquireWriteLock | undefined;
  /** Releases the lock of the transaction in progress. */
  #release: (() => void) | undefined;

  constructor(
    thread: SqliteThread,
    { acquireWriteLock, endTurn }: { readonly acquireWriteLock: AcquireWriteLock | undefined; readonly endTurn: () => void },
  ) {
    this.endTurn = endTurn;
    this.#thread = thread;
    this.#acquireWriteLock = acquireWriteLock;
  }

  /** Begins a read-only transaction. It sees the database as of its first statement, and does not block writers. */
  async beginSnapshot(): Promise<void> {
    await this.#run('begin deferred');
  }

  /** Takes SQLite's lock immediately, because a transaction that takes it later may fail midway. */
  async begin(): Promise<void> {
    this.#release = await this.#acquireWriteLock?.();
    try {
      await this.#run('begin immediate');
    } catch (error) {
      this.#releaseLock();
      throw error;
    }
  }

  async end(statement: 'commit' | 'rollback'): Promise<void> {
    try {
      await this.#run(statement);
    } finally {
      this.#releaseLock();
    }
  }

  async executeQuery<Row>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const needsLock = this.#acquireWriteLock !== undefined && this.#release === undefined && !readStatement.test(text);
    const release = needsLock ? await this.#acquireWriteLock?.() : undefined;
    try {
      const { rows, changes } = await this.#run(text, parameters);
      return { rows: rows as Row[], ...(changes !== undefined && { numAffectedRows: BigInt(changes) }) };
    } finally {
      release?.();
    }
  }

  streamQuery(): never {
    throw new Error('streaming rows is not supported');
  }

  #run(text: string, parameters: readonly unknown[] = []): Promise<SqliteRows> {
    return this.#thread.send(text, parameters);
  }

  #releaseLock(): void {
    this.#release?.();
    this.#release = undefined;
  }
}

interface SqliteThreadOptions {
  readonly file: string;
  /** Maximum time to wait for other processes that write, in milliseconds. */
  readonly timeoutMs: number;
}

interface SqliteRows {
  readonly rows: readonly unknown[];
  /** Number of changed rows. Undefined for a statement that returns rows. */
  readonly changes: number | bigint | undefined;
}

type SqliteReply = SqliteRows | { readonly error: unknown };

/** Runs SQLite in its own thread, because it blocks while it waits for the disk. Statements run in the order of the calls. */
class SqliteThread {
  readonly #worker: Worker;
  readonly #pending: PromiseWithResolvers<SqliteRows>[] = [];
  #endError: Error | undefined;

  private constructor(options: SqliteThreadOptions) {
    this.#worker = new Worker(new URL('../sqlite-worker.js', import.meta.url), { workerData: options, execArgv: [] });
    this.#worker.on('message', (reply: SqliteReply) => this.#receive(reply));
    this.#worker.on('error', (error) => this.#end(error as Error));
    this.#worker.on('exit', () => this.#end(new Error('the thread of the database ended')));
  }

  /** Resolves when the file is open. */
  static async open(options: SqliteThreadOptions): Promise<SqliteThread> {
    const thread = new SqliteThread(options);
    await thread.#nextReply();
    return thread;
  }

  send(text: string, parameters: readonly unknown[]): Promise<SqliteRows> {
    this.#worker.postMessage({ text, parameters });
    return this.#nextReply();
  }

  /** Closes the database after all earlier statements are answered. */
  async close(): Promise<void> {
    if (this.#endError !== undefined) return;
    this.#worker.ref();
    this.#worker.postMessage('close');
    await once(this.#worker, 'exit');
  }

  /** The thread keeps the process alive only while a statement is pending. */
  #nextReply(): Promise<SqliteRows> {
    if (this.#endError !== undefined) return Promise.reject(this.#endError);
    this.#worker.ref();
    const reply = Promise.withResolvers<SqliteRows>();
    this.#pending.push(reply);
    return reply.promise;
  }

  #receive(reply: SqliteReply): void {
    const pending = this.#pending.shift();
    if (this.#pending.length === 0) this.#worker.unref();
    if ('error' in reply) pending?.reject(reply.error);
    else pending?.resolve(reply);
  }

  #end(error: Error): void {
    this.#endError ??= error;
    for (const { reject } of this.#pending.splice(0)) reject(error);
  }
}
