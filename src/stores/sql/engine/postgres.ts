import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from 'kysely';
import { DatabaseError, Pool, type PoolClient, types } from 'pg';
import type { Secret } from '#base/secrets/secret.ts';
import { migrate, NewerDatabase } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import { type AvailabilityMonitor, type OpenDatabase, type OpenOptions, SqlDatabase, toOpenError } from './sql-database.ts';

const maxConnections = 10;
/** Milliseconds that nodes which start together may wait for the one that makes the tables. */
const migrationMs = 120_000;

/** A database that may be away, also when the node starts. */
export interface AttendedDatabase extends OpenDatabase {
  /** Whether it could not be reached when it was looked for last. */
  readonly isAway: () => boolean;
  /** Resolves once it was reached and has its tables. */
  readonly reached: Promise<void>;
}

export interface AvailabilityOptions extends OpenOptions, Pick<AvailabilityMonitorDeps, 'onAway' | 'onBack'> {}

/**
 * The database that nodes share, at `postgres://…`. While its server is away every step fails in time; once it is back, they
 * work again. Throws StoreFault, NewerDatabase.
 */
export async function openPostgres(url: Secret, { timeoutMs = 5000 }: OpenOptions = {}): Promise<OpenDatabase> {
  const limits = toPoolLimits(timeoutMs);
  try {
    await createTables(url, limits);
    const kysely = connect(url, limits);
    return { database: new SqlDatabase(kysely, timeoutMs), close: () => kysely.destroy() };
  } catch (error) {
    throw toOpenError(error);
  }
}

/**
 * The same for a node that serves meanwhile: where the database is away it is looked for again and again, and gets its tables
 * once it is there; until then every step fails at once. Throws StoreFault where its server refuses this node, and NewerDatabase.
 */
export async function attendPostgres(
  url: Secret,
  { timeoutMs = 5000, ...callbacks }: AvailabilityOptions,
): Promise<AttendedDatabase> {
  const limits = toPoolLimits(timeoutMs);
  const opened: Kysely<Schema>[] = [];
  const open = (maxConnections: number): Kysely<Schema> => {
    const kysely = connect(url, { ...limits, maxConnections });
    opened.push(kysely);
    return kysely;
  };
  try {
    // Looks with a connection of its own: those of the steps may all be waiting for a lock.
    const [kysely, probe] = [open(limits.maxConnections), open(1)];
    const availability = new PostgresAvailabilityMonitor({
      ...callbacks,
      createTables: () => createTables(url, limits),
      probe: () => sql`select 1`.execute(probe),
    });
    await availability.start();
    const close = async (): Promise<void> => {
      availability.stop();
      await Promise.all(opened.map((kysely) => kysely.destroy()));
    };
    const database = new SqlDatabase(kysely, timeoutMs, availability);
    return { database, close, isAway: () => availability.isAway, reached: availability.reached };
  } catch (error) {
    await Promise.all(opened.map((kysely) => kysely.destroy()));
    throw toOpenError(error);
  }
}

function toPoolLimits(timeoutMs: number): PoolLimits {
  return { connectMs: timeoutMs, statementMs: timeoutMs, maxConnections };
}

async function createTables(url: Secret, limits: PoolLimits): Promise<void> {
  const migrating = connect(url, { ...limits, statementMs: migrationMs, maxConnections: 1 });
  await migrate(migrating, { types: { engine: 'postgres', key: 'text collate "C"' }, lock }).finally(() => migrating.destroy());
}

function connect(url: Secret, limits: PoolLimits): Kysely<Schema> {
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool: new ReconnectingPool(url, limits) }) });
}

/** The number means nothing; it only has to be the same everywhere. */
async function lock(transaction: Kysely<Schema>): Promise<void> {
  await sql`select pg_advisory_xact_lock(8098276354)`.execute(transaction);
}

const presentPollMs = 10_000;
const awayPollMs = 1_000;
/** Of SQLSTATE, by class: connections that break, too many of them, a server that starts or stops. All else it refuses for good. */
const temporaryCodes = /^(08|53|57P)/;

interface AvailabilityMonitorDeps {
  readonly createTables: () => Promise<unknown>;
  /** Asks the least there is to ask, within a time limit. */
  readonly probe: () => Promise<unknown>;
  /** Called once for each outage, and again if the database is back and refuses this node for good. */
  readonly onAway: (error: unknown) => void;
  readonly onBack: () => void;
}

/** Looks for a PostgreSQL from time to time, and at once where a step failed. */
class PostgresAvailabilityMonitor implements AvailabilityMonitor {
  readonly #deps: AvailabilityMonitorDeps;
  readonly #firstReached = Promise.withResolvers<void>();
  #hasTables = false;
  #isAway = true;
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;
  #isRefused = false;
  #isStopped = false;

  constructor(deps: AvailabilityMonitorDeps) {
    this.#deps = deps;
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  /** Resolves once it was there, and has its tables. */
  get reached(): Promise<void> {
    return this.#firstReached.promise;
  }

  /** Looks for the first time. Throws what the server refuses for good. */
  async start(): Promise<void> {
    try {
      await this.#reach();
    } catch (error) {
      if (isRefusal(error)) throw error;
      this.#deps.onAway(error);
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
    const [wasAway, wasRefused] = [this.#isAway, this.#isRefused];
    try {
      await this.#reach();
      if (wasAway) this.#deps.onBack();
    } catch (error) {
      this.#isAway = true;
      this.#isRefused = isRefusal(error);
      if (!wasAway || (this.#isRefused && !wasRefused)) this.#deps.onAway(error);
    }
    this.#isChecking = false;
    this.#scheduleCheck();
  }

  async #reach(): Promise<void> {
    if (!this.#hasTables) await this.#deps.createTables();
    else await this.#deps.probe();
    this.#hasTables = true;
    this.#isAway = false;
    this.#isRefused = false;
    this.#firstReached.resolve();
  }

  #scheduleCheck(): void {
    if (!this.#isStopped) this.#timer = setTimeout(this.check, this.#isAway ? awayPollMs : presentPollMs).unref();
  }
}

/** What trying again hardly mends: a wrong password, a database that is not there or of a later version, an address that is none. */
function isRefusal(error: unknown): boolean {
  if (error instanceof DatabaseError) return !temporaryCodes.test(error.code ?? '');
  return error instanceof NewerDatabase || error instanceof TypeError;
}

interface PoolLimits {
  readonly connectMs: number;
  /** For one statement, on either side of the wire. */
  readonly statementMs: number;
  readonly maxConnections: number;
}

const int8 = 20;

/** Connections that are made when they are needed, and given up when they do not answer: a server that comes back is found again. */
class ReconnectingPool implements PostgresPool {
  readonly options = {};
  readonly #pool: Pool;

  constructor(url: Secret, { connectMs, statementMs, maxConnections }: PoolLimits) {
    this.#pool = new Pool({
      connectionString: url.reveal(),
      application_name: 'parley',
      max: maxConnections,
      keepAlive: true,
      connectionTimeoutMillis: connectMs,
      query_timeout: statementMs,
      statement_timeout: statementMs,
      // A node that dies in the middle of a transaction lets go of its locks.
      idle_in_transaction_session_timeout: statementMs,
      types: { getTypeParser: (oid, format) => (oid === int8 ? Number : types.getTypeParser(oid, format)) },
    });
    // A connection that breaks while idle is not reported: the next user of the pool gets another one.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  async connect(): Promise<PostgresPoolClient> {
    return new Connection(await this.#pool.connect()) as CursorlessClient as PostgresPoolClient;
  }

  end(): Promise<void> {
    return this.#pool.end();
  }
}

/** What is left of a connection without its cursors: nothing here uses them. */
type CursorlessClient = Pick<PostgresPoolClient, 'release'>;

/** One connection while somebody uses it. After a fault that did not come from the server nothing is asked of it any more. */
class Connection {
  readonly #client: PoolClient;
  #error: Error | undefined;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  async query(text: string, parameters: readonly unknown[]): Promise<unknown> {
    if (this.#error !== undefined) throw this.#error;
    try {
      return await this.#client.query(text, [...parameters]);
    } catch (error) {
      if (!(error instanceof DatabaseError)) this.#error = error instanceof Error ? error : new Error(String(error));
      throw error;
    }
  }

  release(isDiscarded?: boolean): void {
    this.#client.release(isDiscarded || this.#error !== undefined);
  }
}
