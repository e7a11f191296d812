import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Kysely } from 'kysely';
import { migrate } from './migrate.ts';
import type { Schema } from './schema.ts';
import { type OpenDatabase, type OpenOptions, openingFault, SqlDatabase } from './sql-database.ts';
import { SqliteThreadDialect } from './sqlite-dialect.ts';
import { SqliteThread } from './sqlite-thread.ts';

/**
 * The database of one machine; the file and its folder are made where they are missing, for nobody else to read. A write is on
 * the disk once it is answered. Throws StoreFault, NewerDatabase.
 */
export async function openSqlite(file: string, { timeoutMs = 5000 }: OpenOptions = {}): Promise<OpenDatabase> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await (await open(file, 'a', 0o600)).close();
    const thread = await SqliteThread.open({ file, timeoutMs });
    const kysely = new Kysely<Schema>({ dialect: new SqliteThreadDialect(thread) });
    // The transaction it runs in has the lock for writing from its begin.
    await migrate(kysely, { types: { engine: 'sqlite', key: 'text' }, lock: async () => undefined }).catch(async (thrown) => {
      await kysely.destroy();
      throw thrown;
    });
    return { database: new SqlDatabase(kysely, timeoutMs), close: () => kysely.destroy() };
  } catch (thrown) {
    throw openingFault(thrown);
  }
}
