import { type Kysely, sql } from 'kysely';
import type { Schema } from '../schema.ts';
import { recordTables } from './record-tables.ts';

/** Returns the statements that create a table of SQLite and its indexes. */
export async function readDefinition(kysely: Kysely<Schema>, table: string): Promise<readonly string[]> {
  const { rows } = await sql<{ sql: string }>`select sql from sqlite_schema where tbl_name = ${table} and sql is not null
    order by type = 'table' desc`.execute(kysely);
  return rows.map((row) => row.sql);
}

/** Returns the statement that creates the table or index for another table. */
export function toCopy(statement: string, table: string, copy: string): string {
  return statement.replaceAll(table, copy).replace(/^create (table|index) /i, 'create $1 if not exists ');
}

/** Adds the columns and indexes of the first tables to the tables of days in SQLite, after a migration. */
export async function alignDayTables(kysely: Kysely<Schema>): Promise<void> {
  for (const { sqlite: template } of Object.values(recordTables)) {
    const { rows } = await sql<{
      name: string;
    }>`select name from sqlite_schema where type = 'table' and name glob ${`${template}_[0-9]*`}`.execute(kysely);
    const definition = rows.length === 0 ? [] : await readDefinition(kysely, template);
    const columns = await readColumns(kysely, template);
    for (const { name } of rows) {
      const existing = new Set((await readColumns(kysely, name)).map((column) => column.name));
      for (const column of columns)
        if (!existing.has(column.name))
          await sql`alter table ${sql.table(name)} add column ${sql.ref(column.name)} ${sql.raw(column.type)}`.execute(kysely);
      for (const statement of definition.slice(1)) await sql.raw(toCopy(statement, template, name)).execute(kysely);
    }
  }
}

async function readColumns(kysely: Kysely<Schema>, table: string): Promise<readonly { name: string; type: string }[]> {
  return (await sql<{ name: string; type: string }>`select name, type from pragma_table_info(${table})`.execute(kysely)).rows;
}
