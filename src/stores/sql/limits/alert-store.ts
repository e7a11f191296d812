import { sql } from 'kysely';
import type { AlertDelivery, AlertPage, AlertState, AlertStore, AlertUpdate } from '#domain/limits/alert-store.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import type { AlertRow } from './limit-tables.ts';

const newestFirst = sql<number>`row_number() over (partition by alert order by coalesce(attempted_at_ms, 0) desc, error desc)`;

/** Webhooks about limits in a table with one row each. */
export class SqlAlertStore implements AlertStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async add({ id, alert, body, createdAtMs, expiresAtMs }: Parameters<AlertStore['add']>[0]): Promise<void> {
    const row: AlertRow = {
      ...{ id, alert, body, created_at_ms: createdAtMs, expires_at_ms: expiresAtMs },
      ...{ status: 'pending', attempts: 0, next_at_ms: this.#database.toStoreMs(createdAtMs), error: null },
      attempted_at_ms: null,
    };
    await this.#database.run((kysely) =>
      kysely
        .insertInto('alert_deliveries')
        .values(row)
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute(),
    );
  }

  async listOpen(limit: number): Promise<readonly AlertDelivery[]> {
    const rows = await this.#database.run((kysely) =>
      kysely
        .selectFrom('alert_deliveries')
        .selectAll()
        .where('next_at_ms', 'is not', null)
        .orderBy('next_at_ms')
        .limit(limit)
        .execute(),
    );
    return rows.map((row) => this.#toDelivery(row));
  }

  async list({ beforeMs, beforeId, limit }: AlertPage): Promise<readonly AlertDelivery[]> {
    const rows = await this.#database.run((kysely) =>
      kysely
        .selectFrom('alert_deliveries')
        .selectAll()
        .$if(Number.isFinite(beforeMs), (query) => query.where(sql<boolean>`(created_at_ms, id) < (${beforeMs}, ${beforeId})`))
        .orderBy('created_at_ms', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),
    );
    return rows.map((row) => this.#toDelivery(row));
  }

  async readStates(alerts: readonly string[]): Promise<ReadonlyMap<string, AlertState>> {
    if (alerts.length === 0) return new Map();
    const [counts, failures] = await this.#database.run(async (kysely) => [
      await kysely
        .selectFrom('alert_deliveries')
        .select(({ fn }) => [
          'alert',
          'status',
          fn.countAll<number>().as('count'),
          fn.max('attempted_at_ms').as('attempted'),
          fn.min('next_at_ms').as('next'),
        ])
        .where('alert', 'in', alerts)
        .groupBy(['alert', 'status'])
        .execute(),
      await kysely
        .selectFrom((tables) =>
          tables
            .selectFrom('alert_deliveries')
            .select(['alert', 'attempted_at_ms', 'error', newestFirst.as('position')])
            .where('alert', 'in', alerts)
            .where('status', 'in', ['pending', 'failed'])
            .where('error', 'is not', null)
            .as('failures'),
        )
        .select(['alert', 'attempted_at_ms', 'error'])
        .where('position', '=', 1)
        .execute(),
    ]);
    const lastFailures = new Map(
      failures.map(({ alert, attempted_at_ms: atMs, error }) => [alert, { atMs, error: error ?? '' }]),
    );
    const states = new Map<string, AlertState>();
    for (const [alert, rows] of Map.groupBy(counts, (row) => row.alert)) {
      const pending = rows.find(({ status }) => status === 'pending');
      states.set(alert, {
        pending: pending?.count ?? 0,
        nextAttemptAtMs: pending?.next == null ? null : this.#database.toNodeMs(pending.next),
        lastSentAtMs: rows.find(({ status }) => status === 'delivered')?.attempted ?? null,
        lastFailure: lastFailures.get(alert) ?? null,
      });
    }
    return states;
  }

  // Optimistic claim: only the node whose WHERE clause still matches the number of attempts gets it.
  async claim({ id, attempts }: AlertDelivery, untilMs: number): Promise<boolean> {
    const claimed = await this.#database.run((kysely) =>
      kysely
        .updateTable('alert_deliveries')
        .set(({ eb }) => ({ next_at_ms: this.#database.toStoreMs(untilMs), attempts: eb('attempts', '+', 1) }))
        .where('id', '=', id)
        .where('attempts', '=', attempts)
        .where('next_at_ms', 'is not', null)
        .returning('id')
        .execute(),
    );
    return claimed.length > 0;
  }

  async update(id: string, { status, nextAtMs, error, attemptedAtMs }: AlertUpdate): Promise<void> {
    await this.#database.run((kysely) =>
      kysely
        .updateTable('alert_deliveries')
        .set({
          ...{ status, next_at_ms: nextAtMs === null ? null : this.#database.toStoreMs(nextAtMs), error },
          ...(attemptedAtMs !== undefined && { attempted_at_ms: attemptedAtMs }),
        })
        .where('id', '=', id)
        .where('status', '!=', 'delivered')
        .execute(),
    );
  }

  async deleteExpired(nowMs: number): Promise<void> {
    await this.#database.run((kysely) =>
      kysely.deleteFrom('alert_deliveries').where('expires_at_ms', '<', nowMs).where('next_at_ms', 'is', null).execute(),
    );
  }

  #toDelivery(row: AlertRow): AlertDelivery {
    const { id, alert, body, status, attempts, error, next_at_ms: nextMs } = row;
    return {
      ...{ id, alert, body, status, attempts, error, createdAtMs: row.created_at_ms, attemptedAtMs: row.attempted_at_ms },
      ...{ nextAtMs: nextMs === null ? null : this.#database.toNodeMs(nextMs), expiresAtMs: row.expires_at_ms },
    };
  }
}
