import { Client } from 'pg';

/** Runs a statement in PostgreSQL without the stores, as an operator would. */
export async function queryPostgres(url: string, statement: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
