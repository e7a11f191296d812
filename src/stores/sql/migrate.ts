import { type Kysely, sql } from 'kysely';
import type { ColumnTypes } from './engine/column-types.ts';
import { alignDayTables } from './journal/day-tables.ts';
import { migrations } from './migrations.ts';
import type { Schema } from './schema.ts';

/** A later version of Parley created the database. The message may be shown to clients. */
export class NewerDatabaseError extends Error {
  override readonly name = 'NewerDatabaseError';
}

export interface MigrationDeps {
  readonly types: ColumnTypes;
  /** Makes other nodes that want to migrate wait until the transaction ends. */
  readonly lock: (transaction: Kysely<Schema>) => Promise<void>;
}

/** Throws `NewerDatabaseError` if this program does not support the schema version. */
export function requireSupportedSchema(version: number): void {
  if (version <= migrations.length) return;
  throw new NewerDatabaseError(
    `the database has schema version ${version}, but this program supports versions up to ${migrations.length}. ` +
      'Start the version of Parley that created it or a later one, or use another database',
  );
}

/** Migrates the tables to the version of this program in one transaction. Throws `NewerDatabaseError`. */
export async function migrate(kysely: Kysely<Schema>, { types, lock }: MigrationDeps): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    await lock(transaction);
    const { schema } = transaction;
    await schema
      .createTable('parley_migrations')
      .ifNotExists()
      .addColumn('version', 'integer', (column) => column.primaryKey())
      .addColumn('applied_at', 'timestamp', (column) => column.defaultTo(sql`current_timestamp`))
      .execute();
    const latest = await transaction
      .selectFrom('parley_migrations')
      .select(({ fn }) => fn.max('version').as('version'))
      .executeTakeFirst();
    const done = latest?.version ?? 0;
    requireSupportedSchema(done);
    for (const [index, statements] of migrations.entries()) {
      if (index < done) continue;
      for (const statement of statements(types)) await sql.raw(statement).execute(transaction);
      await transaction
        .insertInto('parley_migrations')
        .values({ version: index + 1 })
        .execute();
    }
    if (types.engine === 'sqlite' && done < migrations.length) await alignDayTables(transaction);
  });
}
