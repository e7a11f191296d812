import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Kysely, sql } from 'kysely';
import { migrate } from './migrate.ts';
import type { Schema } from './schema.ts';
import { type OpenDatabase, type OpenOptions, openingFault, SqlDatabase } from './sql-database.ts';
import { SqliteAvailabilityMonitor, type SqliteHearing } from './sqlite-availability.ts';
import { SqliteThreadDialect } from './sqlite-dialect.ts';
import { SqliteThread } from './sqlite-thread.ts';

/** A database of which it is known whether it can be written. */
export interface OpenSqlite extends OpenDatabase {
  /** Whether it could be written when that was tried last. */
  readonly takesWrites: () => boolean;
}

const deaf: SqliteHearing = { noteRefused: () => undefined, noteBack: () => undefined };

/**
 * The database of one machine; the file and its folder are made if they are missing, for nobody else to read. A write is on
 * the disk once it is answered. Throws StoreFault, NewerDatabase.
 */
export async function openSqlite(
  file: string,
  { timeoutMs = 5000 }: OpenOptions = {},
  hearing: SqliteHearing = deaf,
): Promise<OpenSqlite> {
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
    const availability = new SqliteAvailabilityMonitor(() => tryWrite(kysely), hearing);
    const close = (): Promise<void> => {
      availability.stop();
      return kysely.destroy();
    };
    return { database: new SqlDatabase(kysely, timeoutMs, availability), close, takesWrites: () => availability.takesWrites };
  } catch (thrown) {
    throw openingFault(thrown);
  }
}

/** As much as calls write, and gone again: a change that needs no more room would go through on a full disk. */
async function tryWrite(kysely: Kysely<Schema>): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    await sql`create table if not exists parley_trial (content blob)`.execute(transaction);
    await sql`insert into parley_trial (content) values (zeroblob(65536))`.execute(transaction);
  });
  await sql`drop table parley_trial`.execute(kysely);
}
