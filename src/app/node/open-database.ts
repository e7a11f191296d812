import { join } from 'node:path';
import { StoreError } from '#domain/store-error.ts';
import type { OpenDatabase } from '#stores/sql/engine/sql-database.ts';
import { openSqlite } from '#stores/sql/engine/sqlite.ts';
import { NewerDatabase } from '#stores/sql/migrate.ts';
import { SettingError, type Settings } from '../settings.ts';
import type { SharedStore, StoreDeps } from './stores.ts';

interface NodeDatabase extends OpenDatabase {
  /** Resolves once it can be used. */
  readonly reached: Promise<void>;
  readonly shared: readonly SharedStore[];
  /** Whether the one of this node can be written; one that is shared is there or away. */
  readonly isWritable: () => boolean;
}

/** The database that the settings name. One on another machine may be away: it is looked for again. Throws SettingFault. */
export async function openDatabase(settings: Settings, tools: StoreDeps): Promise<NodeDatabase> {
  const { dataFolder, shared } = settings;
  try {
    if (shared.databaseUrl !== undefined) return await openShared(shared.databaseUrl, tools);
    const opened = await openSqlite(
      join(dataFolder, 'parley.db'),
      {},
      {
        onRefused: (error) =>
          tools.reportError('the database in the data folder takes no writes; it is tried every second', error),
        onBack: () => tools.note('the database in the data folder takes writes again'),
      },
    );
    return { ...opened, reached: Promise.resolve(), shared: [] };
  } catch (error) {
    if (error instanceof NewerDatabase) throw new SettingError(error.message);
    if (!(error instanceof StoreError)) throw error;
    const databaseName =
      shared.databaseUrl === undefined ? `the database in ${dataFolder}` : 'the database of PARLEY_DATABASE_URL';
    throw new SettingError(`${databaseName} cannot be opened: ${getReason(error.cause)}`);
  }
}

/** The client of PostgreSQL is loaded only where it is used. */
async function openShared(url: NonNullable<Settings['shared']['databaseUrl']>, tools: StoreDeps): Promise<NodeDatabase> {
  const { attendPostgres } = await import('#stores/sql/engine/postgres.ts');
  let wasReached = false;
  const attended = await attendPostgres(url, {
    onAway: (error) => tools.reportError('the shared database cannot be reached; it is looked for every second', error),
    onBack: () => tools.note('the shared database is there again'),
  });
  const { isAway } = attended;
  void attended.reached.then(() => {
    wasReached = true;
  });
  return { ...attended, shared: [{ name: 'database', isAway, wasReached: () => wasReached }], isWritable: () => true };
}

/** What the engine says, for the operator who started the node. */
export function getReason(cause: unknown): string {
  return cause instanceof Error && cause.message !== '' ? cause.message : 'it gives no reason';
}
