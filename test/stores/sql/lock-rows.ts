import { type Kysely, sql } from 'kysely';
import { vi } from 'vitest';
import type { SqlDatabase } from '#stores/sql/engine/sql-database.ts';
import type { Schema } from '#stores/sql/schema.ts';

export interface LockedRows extends AsyncDisposable {
  /** Runs a query in the transaction that has the lock. */
  query<Value>(work: (kysely: Kysely<Schema>) => Promise<Value>): Promise<Value>;
  /** Commits the transaction. */
  release(): Promise<void>;
}

/** Locks a row in PostgreSQL, so that other writers wait. */
export async function lockRows(database: SqlDatabase, table: 'responses' | 'conversations', id: string): Promise<LockedRows> {
  const locked = Promise.withResolvers<Kysely<Schema>>();
  const gate = Promise.withResolvers<void>();
  const transactionEnd = database.transact(async (kysely) => {
    await sql`select 1 from ${sql.table(table)} where id = ${id} for update`.execute(kysely);
    locked.resolve(kysely);
    await gate.promise;
  });
  const transaction = await Promise.race([
    locked.promise,
    transactionEnd.then(() => Promise.reject(new Error('no lock was taken'))),
  ]);
  const release = async (): Promise<void> => {
    gate.resolve();
    await transactionEnd;
  };
  return { query: (work) => work(transaction), release, [Symbol.asyncDispose]: release };
}

/** Resolves when `count` statements wait for a lock. */
export async function untilWaiting(database: SqlDatabase, count: number): Promise<void> {
  const waiting = sql<{ waiting: number }>`
    select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await vi.waitFor(async () => {
    const { rows } = await database.run((kysely) => waiting.execute(kysely));
    if (rows[0]?.waiting !== count) throw new Error(`${rows[0]?.waiting} statements wait for a lock`);
  }, 4_000);
}
