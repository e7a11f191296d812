import { Client } from 'pg';

/** Asks a PostgreSQL as its operator does, past all stores. */
export async function queryPostgres(url: string, statement: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
