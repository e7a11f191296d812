import { Client } from 'pg';
import type { JsonObject } from '#base/json/json.ts';

const connectMs = 10_000;
const statementMs = 60_000;
/** PostgreSQL code of a missing table. */
const undefinedTable = '42P01';

/** Thrown if a database lacks a table. */
export class MissingTableError extends Error {
  override readonly name = 'MissingTableError';
}

/**
 * Reads complete tables of a PostgreSQL database that belongs to another product, in one read-only transaction. Each row is an object
 * by column. Dates are texts in ISO 8601. Throws `MissingTableError`, or the error of PostgreSQL.
 */
export async function readTables<Name extends string>(
  url: string,
  names: readonly Name[],
): Promise<Readonly<Record<Name, readonly JsonObject[]>>> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: connectMs, statement_timeout: statementMs });
  // If the connection breaks between two statements, the next statement fails.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('begin isolation level repeatable read read only');
    const tables: [Name, readonly JsonObject[]][] = [];
    for (const name of names) {
      const { rows } = await client.query<{ row: JsonObject }>(
        `select row_to_json(t) as row from ${client.escapeIdentifier(name)} t`,
      );
      tables.push([name, rows.map(({ row }) => row)]);
    }
    return Object.fromEntries(tables) as Record<Name, readonly JsonObject[]>;
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    throw code === undefinedTable ? new MissingTableError(message, { cause: error }) : error;
  } finally {
    await client.end().catch(() => undefined);
  }
}
