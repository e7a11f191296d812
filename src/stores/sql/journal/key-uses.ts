import { splitIntoBatches } from '#base/stream/batches.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';

const minIntervalMs = 60_000;
/** Databases limit the parameters of a statement. */
const usesPerStatement = 500;
/** Maximum number of keys whose last write is in memory. If there are more, keys are written more often. */
const maxKeysInMemory = 10_000;

/** Last use of each key, which is stored longer than usage records. A process writes a key about once a minute at most. */
export class KeyUses {
  readonly #database: SqlDatabase;
  /** Stored times by key. */
  readonly #writtenMs = new Map<string, number>();

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async record(uses: ReadonlyMap<string, number>): Promise<void> {
    const isDue = (id: string, atMs: number): boolean => atMs >= (this.#writtenMs.get(id) ?? 0) + minIntervalMs;
    // Sorted, so that concurrent nodes lock the rows in the same order.
    const values = [...uses].filter(([id, atMs]) => isDue(id, atMs)).sort(([left], [right]) => (left < right ? -1 : 1));
    for (const batch of splitIntoBatches(values, usesPerStatement)) await this.#write(batch);
  }

  async #write(uses: readonly (readonly [string, number])[]): Promise<void> {
    await this.#database.run((kysely) =>
      kysely
        .insertInto('key_uses')
        .values(uses.map(([id, atMs]) => ({ key_id: id, last_used_at_ms: atMs })))
        .onConflict((conflict) =>
          conflict
            .column('key_id')
            .doUpdateSet(({ ref }) => ({ last_used_at_ms: ref('excluded.last_used_at_ms') }))
            .whereRef('key_uses.last_used_at_ms', '<', 'excluded.last_used_at_ms'),
        )
        .execute(),
    );
    if (this.#writtenMs.size > maxKeysInMemory) this.#writtenMs.clear();
    for (const [id, atMs] of uses) this.#writtenMs.set(id, atMs);
  }

  async readUses(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (ids.length === 0) return new Map();
    const rows = await this.#database.run((kysely) =>
      kysely.selectFrom('key_uses').selectAll().where('key_id', 'in', ids).execute(),
    );
    return new Map(rows.map((row) => [row.key_id, row.last_used_at_ms]));
  }
}
