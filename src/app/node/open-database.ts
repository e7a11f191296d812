import { join } from 'node:path';
import type { Secret } from '#base/secrets/secret.ts';
import { StoreError } from '#domain/store-error.ts';
import type { AcquireWriteLock, OpenDatabase } from '#stores/sql/engine/sql-database.ts';
import { openSqlite } from '#stores/sql/engine/sqlite.ts';
import { NewerDatabaseError } from '#stores/sql/migrate.ts';
import { getReason, SettingError, type Settings } from '../settings.ts';
import type { SharedStore, StoreDeps } from './stores.ts';

interface NodeDatabase extends OpenDatabase {
  /** Resolves when the database is reachable. */
  readonly reached: Promise<void>;
  readonly shared: readonly SharedStore[];
  /**
   * Returns whether the node's own database accepts writes. Returns true for a shared database, which has a separate outage
   * state.
   */
  readonly isWritable: () => boolean;
}

/** Dependencies of the database of a node. */
export interface DatabaseDeps extends Pick<StoreDeps, 'note' | 'reportError'> {
  /** Lock for writes to the database in the data folder, if several processes use it. */
  readonly acquireWriteLock?: AcquireWriteLock | undefined;
}

/**
 * Opens the database from the settings. A shared database may be unreachable, and the node then tries to connect again. Throws
 * SettingError.
 */
export async function openDatabase(settings: Settings, deps: DatabaseDeps): Promise<NodeDatabase> {
  const { dataFolder, shared } = settings;
  try {
    if (shared.databaseUrl !== undefined) return await openShared(shared.databaseUrl, settings, deps);
    const opened = await openSqlite(
      join(dataFolder, 'parley.db'),
      { acquireWriteLock: deps.acquireWriteLock },
      {
        onOutage: (error) => deps.reportError('the database in the data folder rejects writes, trying again every second', error),
        onRecovery: () => deps.note('the database in the data folder accepts writes again'),
      },
    );
    return { ...opened, reached: Promise.resolve(), shared: [] };
  } catch (error) {
    if (error instanceof NewerDatabaseError) throw new SettingError(error.message);
    if (!(error instanceof StoreError)) throw error;
    const databaseName =
      shared.databaseUrl === undefined ? `the database in ${dataFolder}` : 'the database of PARLEY_DATABASE_URL';
    throw new SettingError(`${databaseName} cannot be opened: ${getReason(error.cause)}`);
  }
}

/** Opens the database that nodes share. The PostgreSQL client is loaded only if it is used. */
async function openShared(url: Secret, { shared }: Settings, deps: DatabaseDeps): Promise<NodeDatabase> {
  const { openMonitoredPostgres } = await import('#stores/sql/engine/postgres.ts');
  let wasReached = false;
  const monitored = await openMonitoredPostgres(url, {
    onUnavailable: (error) => deps.reportError('the shared database is unreachable, trying to connect every second', error),
    onRecovery: () => deps.note('the shared database is reachable again'),
    note: deps.note,
    ...(shared.databasePool !== undefined && { maxConnections: shared.databasePool }),
  });
  const { isUnavailable } = monitored;
  void monitored.reached.then(() => {
    wasReached = true;
  });
  return { ...monitored, shared: [{ name: 'database', isUnavailable, wasReached: () => wasReached }], isWritable: () => true };
}

/**
 * Opens the read replica of the settings. While it is unavailable, operations fail immediately. Returns undefined if there is
 * none.
 */
export async function openReplica({ shared }: Settings, deps: StoreDeps): Promise<OpenDatabase | undefined> {
  if (shared.replicaUrl === undefined) return undefined;
  const { openMonitoredPostgres } = await import('#stores/sql/engine/postgres.ts');
  return openMonitoredPostgres(shared.replicaUrl, {
    onUnavailable: (error) => deps.reportError('the read replica is unreachable, so reports use the database', error),
    onRecovery: () => deps.note('the read replica is reachable again'),
    ...(shared.databasePool !== undefined && { maxConnections: shared.databasePool }),
    isReplica: true,
  });
}
