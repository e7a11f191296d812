import { parseJson } from '#base/json.ts';
import type { Seal } from '#base/seal.ts';
import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import type { ApplicationStore, StoredApplication } from '#domain/application-store.ts';
import { isStorableKey } from '#domain/storable-key.ts';
import { StoreFault } from '#domain/store-fault.ts';
import type { WriteCondition } from '#domain/write-condition.ts';
import { requireStorable } from './require-storable.ts';
import type { ApplicationRow } from './schema.ts';
import type { SqlDatabase } from './sql-database.ts';

/** What a write does not change. */
type Kept = Pick<ApplicationRow, 'owner' | 'created_at_ms'>;

/** Applications made by users, a row each; the whole entry is sealed. */
export class SqlApplicationStore implements ApplicationStore {
  readonly #database: SqlDatabase;
  readonly #seal: Seal;

  constructor(database: SqlDatabase, seal: Seal) {
    this.#database = database;
    this.#seal = seal;
  }

  async find(id: string): Promise<StoredApplication | undefined> {
    if (!isStorableKey(id)) return undefined;
    const row = await this.#database.run((kysely) =>
      kysely.selectFrom('applications').selectAll().where('id', '=', id).executeTakeFirst(),
    );
    return row && this.#toApplication(row);
  }

  async put(application: StoredApplication, condition: WriteCondition): Promise<StoredApplication | undefined> {
    requireStorable(application.id, application.owner);
    const row = this.#toRow(application);
    const written = await (condition === undefined || condition === 'absent'
      ? this.#insert(row, condition)
      : this.#update(row, condition));
    return written && { ...application, owner: written.owner, createdAtMs: written.created_at_ms };
  }

  async delete(id: string, condition: WriteCondition): Promise<'deleted' | 'absent' | 'condition_failed'> {
    if (!isStorableKey(id)) return 'absent';
    return this.#database.run(async (kysely) => {
      if (condition !== 'absent') {
        const named = kysely.deleteFrom('applications').where('id', '=', id);
        const meant = typeof condition === 'object' ? named.where('etag', '=', condition.etag) : named;
        const { numDeletedRows } = await meant.executeTakeFirstOrThrow();
        if (numDeletedRows > 0n) return 'deleted';
        if (typeof condition !== 'object') return 'absent';
      }
      const there = await kysely.selectFrom('applications').select('id').where('id', '=', id).executeTakeFirst();
      return there === undefined ? 'absent' : 'condition_failed';
    });
  }

  async list(owner: string | undefined): Promise<readonly StoredApplication[]> {
    if (owner !== undefined && !isStorableKey(owner)) return [];
    const rows = await this.#database.run((kysely) => {
      const all = kysely.selectFrom('applications').selectAll().orderBy('id');
      return (owner === undefined ? all : all.where('owner', '=', owner)).execute();
    });
    return rows.map((row) => this.#toApplication(row));
  }

  /**
   * Seals with the newest secret what an older one sealed, so that the older can be given up. Gives how many there were; throws
   * StoreFault where some could not be opened, once the others are done.
   */
  async sealAnew(): Promise<number> {
    const rows = await this.#database.run((kysely) => kysely.selectFrom('applications').select(['id', 'sealed_entry']).execute());
    const outdated = rows.filter(({ sealed_entry }) => this.#seal.isOutdated(sealed_entry));
    const faults: unknown[] = [];
    for (const row of outdated) await this.#sealRowAnew(row).catch((thrown) => faults.push(thrown));
    if (faults.length > 0) throw faults[0];
    return outdated.length;
  }

  async #sealRowAnew({ id, sealed_entry }: Pick<ApplicationRow, 'id' | 'sealed_entry'>): Promise<void> {
    const sealedAnew = this.#seal.seal(this.#open(id, sealed_entry), id);
    await this.#database.run((kysely) =>
      kysely
        .updateTable('applications')
        .set({ sealed_entry: sealedAnew })
        .where('id', '=', id)
        .where('sealed_entry', '=', sealed_entry)
        .execute(),
    );
  }

  #insert(row: ApplicationRow, condition: 'absent' | undefined): Promise<Kept | undefined> {
    const { id, owner, created_at_ms, ...changing } = row;
    return this.#database.run((kysely) =>
      kysely
        .insertInto('applications')
        .values(row)
        .onConflict((there) => (condition === 'absent' ? there.doNothing() : there.column('id').doUpdateSet(changing)))
        .returning(['owner', 'created_at_ms'])
        .executeTakeFirst(),
    );
  }

  #update(row: ApplicationRow, condition: 'present' | { readonly etag: string }): Promise<Kept | undefined> {
    const { id, owner, created_at_ms, ...changing } = row;
    return this.#database.run((kysely) => {
      const named = kysely.updateTable('applications').set(changing).where('id', '=', id);
      const meant = condition === 'present' ? named : named.where('etag', '=', condition.etag);
      return meant.returning(['owner', 'created_at_ms']).executeTakeFirst();
    });
  }

  #toRow({ id, owner, entry, etag, createdAtMs, updatedAtMs }: StoredApplication): ApplicationRow {
    const sealed_entry = this.#seal.seal(JSON.stringify(entry), id);
    return { id, owner, sealed_entry, etag, created_at_ms: createdAtMs, updated_at_ms: updatedAtMs };
  }

  #toApplication(row: ApplicationRow): StoredApplication {
    const { id, owner, etag, created_at_ms: createdAtMs, updated_at_ms: updatedAtMs } = row;
    const entry = parseJson(this.#open(id, row.sealed_entry)) as ApplicationEntry;
    return { id, owner, entry, etag, createdAtMs, updatedAtMs };
  }

  #open(id: string, sealed: string): string {
    try {
      return this.#seal.open(sealed, id);
    } catch (cause) {
      throw new StoreFault('the settings of an application cannot be decrypted', { cause });
    }
  }
}
