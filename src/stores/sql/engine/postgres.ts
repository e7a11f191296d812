import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from 'kysely';
import { DatabaseError, Pool, type PoolClient, types } from 'pg';
import { Secret } from '#base/secrets/secret.ts';
import { type Clock, systemClock } from '#base/time/clock.ts';
import { migrate, NewerDatabaseError } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import { describeConnectionError, isReadOnly, isStartupParameterRejected, RejectedConnectionError } from './postgres-errors.ts';
import { type AvailabilityMonitor, type OpenDatabase, type OpenOptions, SqlDatabase, toOpenError } from './sql-database.ts';

/** Time limit in milliseconds for one statement of a migration. Nodes that start together wait for the first one to migrate. */
const migrationMs = 120_000;

/** A database that may be unavailable, even when the node starts. */
export interface MonitoredDatabase extends OpenDatabase {
  /** Whether the last check could not reach the database. */
  readonly isUnavailable: () => boolean;
  /** Resolves when the database has been reached and has its tables. */
  readonly reached: Promise<void>;
}

export interface AvailabilityOptions extends OpenOptions, Pick<AvailabilityMonitorDeps, 'onUnavailable' | 'onRecovery'> {
  /** Called with advice for the operator that is not an error. */
  readonly note?: (message: string) => void;
  /** Maximum number of connections. Default: 10. */
  readonly maxConnections?: number;
  /** Whether the database is a read-only copy. Then Parley creates no tables, and a permanent error does not prevent the start. */
  readonly isReplica?: boolean;
}

/**
 * Opens the database at `postgres://…` that nodes share. If it is unavailable, it is polled and every operation fails immediately.
 * Its tables are created when it is reached. Throws `StoreError` if the server rejects this node, or `NewerDatabaseError`.
 */
export async function openMonitoredPostgres(
  url: Secret,
  { timeoutMs = 5000, note, clock, maxConnections = 10, isReplica = false, ...callbacks }: AvailabilityOptions,
): Promise<MonitoredDatabase> {
  const limits = { connectMs: timeoutMs, statementMs: timeoutMs, maxConnections };
  const server = new Server(url, { note, clock });
  const opened: Kysely<Schema>[] = [];
  const open = (maxConnections: number): Kysely<Schema> => {
    const kysely = connect(server, { ...limits, maxConnections });
    opened.push(kysely);
    return kysely;
  };
  try {
    // The probe uses its own connection, because all other connections may be waiting for locks.
    const [kysely, probeKysely] = [open(limits.maxConnections), open(1)];
    const probe = () => server.compareClocks(probeKysely);
    const reachReplica = async (): Promise<void> => {
      await server.detectPooler(probeKysely, timeoutMs);
      await probe();
    };
    const availability = new PostgresAvailabilityMonitor({
      ...callbacks,
      ...{ isReplica, probe },
      reachFirst: isReplica ? reachReplica : () => createTables(server, limits),
    });
    await availability.start();
    const close = async (): Promise<void> => {
      availability.stop();
      await Promise.all(opened.map((kysely) => kysely.destroy()));
    };
    const database = new SqlDatabase(kysely, { engine: 'postgres', timeoutMs, availability, toStoreMs: server.toStoreMs });
    return { database, close, isUnavailable: () => availability.isUnavailable, reached: availability.reached };
  } catch (error) {
    await Promise.all(opened.map((kysely) => kysely.destroy()));
    throw toOpenError(error);
  }
}

async function createTables(server: Server, limits: PoolLimits): Promise<void> {
  const migrationKysely = connect(server, { ...limits, statementMs: migrationMs, maxConnections: 1 });
  try {
    await server.detectPooler(migrationKysely, migrationMs);
    await server.compareClocks(migrationKysely);
    await migrate(migrationKysely, { types: { engine: 'postgres', key: 'text collate "C"' }, lock: lockSchema });
  } finally {
    await migrationKysely.destroy();
  }
}

function connect(server: Server, limits: PoolLimits): Kysely<Schema> {
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool: new ReconnectingPool(server, limits) }) });
}

interface ServerDeps {
  readonly note?: ((message: string) => void) | undefined;
  readonly clock?: Pick<Clock, 'epochMs'> | undefined;
}

const minOffsetMs = 1_000;

/**
 * The server of the URL. A pooler such as PgBouncer in transaction mode rejects or ignores the time limits of a connection,
 * because the next transaction may run on another one. Each transaction then sets its own limits.
 */
class Server {
  readonly url: Secret;
  readonly #note: (message: string) => void;
  readonly #clock: Pick<Clock, 'epochMs'>;
  isPooler = false;
  #hasDetected = false;
  #offsetMs = 0;

  constructor(url: Secret, { note = () => undefined, clock = systemClock }: ServerDeps) {
    this.url = new Secret(requireVerification(url.reveal()));
    this.#note = note;
    this.#clock = clock;
  }

  /** Converts a time by the clock of this node to the clock of the server. */
  readonly toStoreMs = (epochMs: number): number => epochMs + this.#offsetMs;

  /**
   * Compares the clocks with one statement, and stores the difference. Ignores answers that take 1 s or more, because they are
   * imprecise, and treats a difference under 1 s as 0.
   */
  async compareClocks(kysely: Kysely<Schema>): Promise<void> {
    const sentMs = this.#clock.epochMs();
    const { rows } = await sql<{ ms: string }>`select extract(epoch from clock_timestamp()) * 1000 as ms`.execute(kysely);
    const receivedMs = this.#clock.epochMs();
    if (receivedMs - sentMs >= minOffsetMs) return;
    const offsetMs = Math.round(Number(rows[0]?.ms) - (sentMs + receivedMs) / 2);
    this.#offsetMs = Math.abs(offsetMs) < minOffsetMs ? 0 : offsetMs;
  }

  /** Sets `isPooler` if the connection does not have the requested `statement_timeout`. The first call reports a missing timeout. */
  async detectPooler(kysely: Kysely<Schema>, requestedMs: number): Promise<void> {
    const { rows } = await sql<{ ms: string }>`select setting as ms from pg_settings where name = 'statement_timeout'`.execute(
      kysely,
    );
    const ms = Number(rows[0]?.ms);
    this.isPooler = ms !== requestedMs;
    if (this.isPooler && ms === 0 && !this.#hasDetected) this.#note(noLimitAdvice);
    this.#hasDetected = true;
  }
}

/**
 * Returns the URL with `sslmode=verify-full` for each mode with TLS except `no-verify`, so that the certificate and the host name
 * are verified. Removes `sslrootcert=system`, which `pg` does not support, so the CAs of Node.js apply.
 */
function requireVerification(url: string): string {
  const parsed = URL.parse(url);
  const mode = parsed?.searchParams.get('sslmode');
  if (parsed === null || mode === undefined || mode === null) return url;
  if (mode !== 'disable' && mode !== 'no-verify') parsed.searchParams.set('sslmode', 'verify-full');
  if (parsed.searchParams.get('sslrootcert') === 'system') parsed.searchParams.delete('sslrootcert');
  return parsed.href;
}

const noLimitAdvice =
  'the pooler in front of PostgreSQL drops the time limit of single statements. Run "alter role USER set statement_timeout = 5000". USER is the user of PARLEY_DATABASE_URL';

/** Locks the schema. The number is arbitrary but must be the same on all nodes. */
async function lockSchema(transaction: Kysely<Schema>): Promise<void> {
  await sql`select pg_advisory_xact_lock(8098276354)`.execute(transaction);
}

const availablePollMs = 10_000;
const unavailablePollMs = 1_000;
/**
 * SQLSTATEs of temporary errors: broken or too many connections, conflicts with other nodes, time limits, and a server that
 * starts, stops, or is read-only during a failover. All other errors of the server are permanent.
 */
const temporaryCodes = /^(08|40|53|57)|^(25006|55P03)$/;

interface AvailabilityMonitorDeps {
  readonly isReplica: boolean;
  /** Reaches the database for the first time. Creates or migrates its tables, unless it is a replica. */
  readonly reachFirst: () => Promise<void>;
  /** Sends a minimal query with a time limit. */
  readonly probe: () => Promise<unknown>;
  /** Called once for each outage, and again if the database is back but rejects this node permanently. */
  readonly onUnavailable: (error: unknown) => void;
  readonly onRecovery: () => void;
}

/** Checks a PostgreSQL database periodically, and immediately after a failed operation. */
class PostgresAvailabilityMonitor implements AvailabilityMonitor {
  readonly #deps: AvailabilityMonitorDeps;
  readonly #firstReached = Promise.withResolvers<void>();
  readonly reached = this.#firstReached.promise;
  #hasTables = false;
  isUnavailable = true;
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;
  #isRejected = false;
  #isStopped = false;

  constructor(deps: AvailabilityMonitorDeps) {
    this.#deps = deps;
  }

  /** Checks the database for the first time. Throws permanent errors, except for a replica. */
  async start(): Promise<void> {
    try {
      await this.#reach();
    } catch (error) {
      if (isRejection(error) && !this.#deps.isReplica) throw error;
      this.#deps.onUnavailable(error);
    }
    this.#scheduleCheck();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#isStopped = true;
  }

  readonly check = (): void => void this.#poll();

  async #poll(): Promise<void> {
    if (this.#isChecking || this.#isStopped) return;
    this.#isChecking = true;
    clearTimeout(this.#timer);
    const [wasUnavailable, wasRejected] = [this.isUnavailable, this.#isRejected];
    try {
      await this.#reach();
      if (wasUnavailable) this.#deps.onRecovery();
    } catch (error) {
      this.isUnavailable = true;
      this.#isRejected = isRejection(error);
      if (!wasUnavailable || (this.#isRejected && !wasRejected)) this.#deps.onUnavailable(error);
    } finally {
      this.#isChecking = false;
      this.#scheduleCheck();
    }
  }

  async #reach(): Promise<void> {
    try {
      if (!this.#hasTables) await this.#deps.reachFirst();
      else await this.#deps.probe();
    } catch (error) {
      throw describeConnectionError(error, this.#deps.isReplica ? 'PARLEY_DATABASE_REPLICA_URL' : undefined);
    }
    this.#hasTables = true;
    this.isUnavailable = false;
    this.#isRejected = false;
    this.#firstReached.resolve();
  }

  #scheduleCheck(): void {
    if (!this.#isStopped) this.#timer = setTimeout(this.check, this.isUnavailable ? unavailablePollMs : availablePollMs).unref();
  }
}

/** Returns whether a retry cannot help, for example because of a wrong password, a newer database, or an invalid address. */
function isRejection(error: unknown): boolean {
  if (error instanceof DatabaseError) return !temporaryCodes.test(error.code ?? '');
  return error instanceof NewerDatabaseError || error instanceof RejectedConnectionError || error instanceof TypeError;
}

interface PoolLimits {
  readonly connectMs: number;
  /** Time limit of one statement. The client enforces it, and the server too if the pooler permits it. */
  readonly statementMs: number;
  readonly maxConnections: number;
}

/** OID of the type `int8`. */
const int8 = 20;

/** A pool that opens connections on demand and discards unresponsive ones, so that it recovers when the server is back. */
class ReconnectingPool implements PostgresPool {
  readonly options = {};
  readonly #server: Server;
  readonly #limits: PoolLimits;
  #pool: Pool;
  #hasStartupLimits: boolean;

  constructor(server: Server, limits: PoolLimits) {
    this.#server = server;
    this.#limits = limits;
    this.#hasStartupLimits = !server.isPooler;
    this.#pool = openPool(server.url, limits, this.#hasStartupLimits);
  }

  async connect(): Promise<PostgresPoolClient> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      if (!isStartupParameterRejected(error)) throw error;
      this.#removeStartupLimits();
      return this.#pool.connect();
    });
    const transactionMs = this.#server.isPooler ? this.#limits.statementMs : undefined;
    return new Connection(client, transactionMs) as ReleasableClient as PostgresPoolClient;
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  /** Replaces the pool with one that sends no time limits in the startup message. Does nothing if this has already happened. */
  #removeStartupLimits(): void {
    this.#server.isPooler = true;
    if (!this.#hasStartupLimits) return;
    this.#hasStartupLimits = false;
    void this.#pool.end();
    this.#pool = openPool(this.#server.url, this.#limits, false);
  }
}

function openPool(url: Secret, { connectMs, statementMs, maxConnections }: PoolLimits, hasStartupLimits: boolean): Pool {
  const pool = new Pool({
    connectionString: url.reveal(),
    application_name: 'parley',
    max: maxConnections,
    keepAlive: true,
    connectionTimeoutMillis: connectMs,
    query_timeout: statementMs,
    // A node that dies during a transaction must not keep its locks.
    ...(hasStartupLimits && { statement_timeout: statementMs, idle_in_transaction_session_timeout: statementMs }),
    types: { getTypeParser: (oid, format) => (oid === int8 ? Number : types.getTypeParser(oid, format)) },
  });
  // Errors of idle connections are ignored, because the pool replaces these connections.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/**
 * Intermediate type for the cast of `Connection` to `PostgresPoolClient`. `Connection` has no overload of `query` for cursors,
 * because Kysely uses them only for streams.
 */
type ReleasableClient = Pick<PostgresPoolClient, 'release'>;

/** Matches the statement of Kysely that starts a transaction. */
const startOfTransaction = /^(begin|start transaction)\b/;

/** A connection in use. After an error that makes it unusable, no further queries are sent on it. */
class Connection {
  readonly #client: PoolClient;
  /** Time limits that each transaction sets, in milliseconds. */
  readonly #transactionMs: number | undefined;
  #error: Error | undefined;

  constructor(client: PoolClient, transactionMs: number | undefined) {
    this.#client = client;
    this.#transactionMs = transactionMs;
  }

  async query(text: string, parameters: readonly unknown[]): Promise<unknown> {
    if (this.#error !== undefined) throw this.#error;
    try {
      if (this.#transactionMs !== undefined && startOfTransaction.test(text)) return await this.#startTransaction(text);
      return await this.#client.query(text, [...parameters]);
    } catch (error) {
      if (!(error instanceof DatabaseError) || isReadOnly(error))
        this.#error = error instanceof Error ? error : new Error(String(error));
      throw error;
    }
  }

  /** Sends the limits together with the start, so that they take no extra round trip. */
  async #startTransaction(text: string): Promise<unknown> {
    const limits = ['statement_timeout', 'idle_in_transaction_session_timeout'].map(
      (name) => `set local ${name} = ${this.#transactionMs}`,
    );
    await this.#client.query([text, ...limits].join('; '));
    return { command: 'BEGIN', rowCount: 0, rows: [] };
  }

  release(isDiscarded?: boolean): void {
    this.#client.release(isDiscarded || this.#error !== undefined);
  }
}
