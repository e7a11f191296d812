import type { SqlDatabase } from '../engine/sql-database.ts';
import type { UsageRow } from '../schema.ts';

const minIntervalMs = 60_000;
/** Number of keys whose last write is remembered. Beyond it, a key may be written more often. */
const maxRemembered = 10_000;

/** Last use of keys, which outlives their usage records. A key is written at most once a minute. */
export class KeyUses {
  readonly #database: SqlDatabase;
  /** Stored times by key. */
  readonly #written = new Map<string, number>();

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async record(rows: readonly Pick<UsageRow, 'key_id' | 'at_ms'>[]): Promise<void> {
    const uses = new Map<string, number>();
    for (const { key_id: id, at_ms: atMs } of rows) {
      const knownMs = id === null ? Number.POSITIVE_INFINITY : (this.#written.get(id) ?? Number.NEGATIVE_INFINITY);
      if (id !== null && atMs >= knownMs + minIntervalMs && atMs > (uses.get(id) ?? 0)) uses.set(id, atMs);
    }
    if (uses.size === 0) return;
    // Sorted, so that concurrent nodes lock the rows in the same order.
    const values = [...uses].sort(([left], [right]) => (left < right ? -1 : 1));
    await this.#database.run((kysely) =>
      kysely
        .insertInto('key_uses')
        .values(values.map(([id, atMs]) => ({ key_id: id, last_used_at_ms: atMs })))
        .onConflict((conflict) =>
          conflict
            .column('key_id')
            .doUpdateSet(({ ref }) => ({ last_used_at_ms: ref('excluded.last_used_at_ms') }))
            .whereRef('key_uses.last_used_at_ms', '<', 'excluded.last_used_at_ms'),
        )
        .execute(),
    );
    if (this.#written.size > maxRemembered) this.#written.clear();
    for (const [id, atMs] of values) this.#written.set(id, atMs);
  }

  async readUses(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (ids.length === 0) return new Map();
    const rows = await this.#database.run((kysely) =>
      kysely.selectFrom('key_uses').selectAll().where('key_id', 'in', ids).execute(),
    );
    return new Map(rows.map((row) => [row.key_id, row.last_used_at_ms]));
  }
}
