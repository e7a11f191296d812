import { Kysely, PostgresDialect, sql } from 'kysely';
import type { Secret } from '#base/secret.ts';
import { migrate } from './migrate.ts';
import { type AvailabilityMonitorDeps, PostgresAvailabilityMonitor } from './postgres-availability.ts';
import { PatientPool, type PoolLimits } from './postgres-pool.ts';
import type { Schema } from './schema.ts';
import { type OpenDatabase, type OpenOptions, openingFault, SqlDatabase } from './sql-database.ts';

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

export interface AvailabilityOptions extends OpenOptions, Pick<AvailabilityMonitorDeps, 'noteAway' | 'noteBack'> {}

/**
 * The database that nodes share, at `postgres://…`. While its server is away every step fails in time; once it is back, they
 * work again. Throws StoreFault, NewerDatabase.
 */
export async function openPostgres(url: Secret, { timeoutMs = 5000 }: OpenOptions = {}): Promise<OpenDatabase> {
  const limits = limitsFor(timeoutMs);
  try {
    await makeTables(url, limits);
    const kysely = connectTo(url, limits);
    return { database: new SqlDatabase(kysely, timeoutMs), close: () => kysely.destroy() };
  } catch (thrown) {
    throw openingFault(thrown);
  }
}

/**
 * The same for a node that serves meanwhile: where the database is away it is looked for again and again, and gets its tables
 * once it is there; until then every step fails at once. Throws StoreFault where its server refuses this node, and NewerDatabase.
 */
export async function attendPostgres(
  url: Secret,
  { timeoutMs = 5000, ...hearing }: AvailabilityOptions,
): Promise<AttendedDatabase> {
  const limits = limitsFor(timeoutMs);
  const opened: Kysely<Schema>[] = [];
  const open = (maxConnections: number): Kysely<Schema> => {
    const kysely = connectTo(url, { ...limits, maxConnections });
    opened.push(kysely);
    return kysely;
  };
  try {
    // Looks with a connection of its own: those of the steps may all be waiting for a lock.
    const [kysely, looking] = [open(limits.maxConnections), open(1)];
    const availability = new PostgresAvailabilityMonitor({
      ...hearing,
      makeTables: () => makeTables(url, limits),
      look: () => sql`select 1`.execute(looking),
    });
    await availability.start();
    const close = async (): Promise<void> => {
      availability.stop();
      await Promise.all(opened.map((each) => each.destroy()));
    };
    const database = new SqlDatabase(kysely, timeoutMs, availability);
    return { database, close, isAway: () => availability.isAway, reached: availability.reached };
  } catch (thrown) {
    await Promise.all(opened.map((each) => each.destroy()));
    throw openingFault(thrown);
  }
}

function limitsFor(timeoutMs: number): PoolLimits {
  return { connectMs: timeoutMs, statementMs: timeoutMs, maxConnections };
}

async function makeTables(url: Secret, limits: PoolLimits): Promise<void> {
  const migrating = connectTo(url, { ...limits, statementMs: migrationMs, maxConnections: 1 });
  await migrate(migrating, { types: { engine: 'postgres', key: 'text collate "C"' }, lock }).finally(() => migrating.destroy());
}

function connectTo(url: Secret, limits: PoolLimits): Kysely<Schema> {
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool: new PatientPool(url, limits) }) });
}

/** The number means nothing; it only has to be the same everywhere. */
async function lock(transaction: Kysely<Schema>): Promise<void> {
  await sql`select pg_advisory_xact_lock(8098276354)`.execute(transaction);
}
