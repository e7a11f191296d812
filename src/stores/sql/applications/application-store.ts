import type { Kysely } from 'kysely';
import { type BoundedCache, type BoundedCacheOptions, Caches } from '#base/cache/bounded-cache.ts';
import type { Seal } from '#base/secrets/seal.ts';
import { splitIntoBatches } from '#base/stream/batches.ts';
import { isStorableKey } from '#base/text/storable-key.ts';
import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type {
  ApplicationMove,
  ApplicationStore,
  ApplicationVersion,
  SharedQuery,
  StoredApplication,
} from '#domain/deployments/application-store.ts';
import type { WriteCondition } from '#domain/files/write-condition.ts';
import { StoreError } from '#domain/store-error.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { openSealed, openSealedText, requireStorable } from '../engine/stored-values.ts';
import type { Schema } from '../schema.ts';
import {
  type EtagRow,
  findAccessibleEtags,
  findEtags,
  findOwnEtags,
  findRow,
  findRows,
  findRowsWithUnrecordedRoles,
  findSharedEtags,
  findVersionRow,
  listVersions,
  lockRow,
  type ReadRow,
  type WrittenRow,
  writeRow,
} from './application-rows.ts';

/** Applications of users, one row each with a sealed entry. Decrypted applications are cached within bounds. */
export class SqlApplicationStore implements ApplicationStore {
  readonly #database: SqlDatabase;
  readonly #seal: Seal;
  /** Decrypted applications by ID. */
  readonly #cache: BoundedCache<CachedApplication>;

  constructor(database: SqlDatabase, seal: Seal, caches = new Caches()) {
    this.#database = database;
    this.#seal = seal;
    this.#cache = caches.create('applications', cachedApplicationBounds);
  }

  async find(id: string): Promise<StoredApplication | undefined> {
    if (!isStorableKey(id)) return undefined;
    const cached = this.#cache.find(id)?.application;
    const row = await this.#database.run((kysely) => findRow(kysely, id, cached?.etag));
    if (row === undefined) return undefined;
    const { sealed_entry } = row;
    return sealed_entry === null ? cached : this.#cacheRow({ ...row, sealed_entry });
  }

  findAll(ids: readonly string[]): Promise<readonly StoredApplication[]> {
    const storable = ids.filter(isStorableKey);
    return this.#listCached((kysely) => findEtags(kysely, storable));
  }

  async put(application: StoredApplication, condition: WriteCondition): Promise<StoredApplication | undefined> {
    const { id, spelling = null, owner, entry, etag } = application;
    requireStorable(id, owner);
    const sealed_entry = this.#seal.seal(JSON.stringify(entry), id);
    const row: WrittenRow = {
      ...{ id, owner, spelling, sealed_entry, etag, roles_etag: etag },
      ...{ created_at_ms: application.createdAtMs, updated_at_ms: application.updatedAtMs },
    };
    return this.#database.transact(async (transaction) => {
      const stored = await writeRow(transaction, row, condition);
      if (stored === undefined) return undefined;
      await writeAccess(transaction, [application]);
      // The owner, the spelling, and the time of creation stay those of the first write.
      const { spelling: _, ...fields } = application;
      const spellingField = stored.spelling === null ? {} : { spelling: stored.spelling };
      return { ...fields, ...spellingField, owner: stored.owner, createdAtMs: stored.created_at_ms };
    });
  }

  async move(move: ApplicationMove): Promise<'moved' | 'absent' | 'occupied'> {
    const { from, to } = move;
    if (!isStorableKey(from)) return 'absent';
    requireStorable(to);
    const reseal = (sealed: string): string => this.#seal.seal(openSealedText(this.#seal, sealed, from), to);
    return this.#database.transact((transaction) => moveRows(transaction, move, reseal));
  }

  /** The database deletes the versions, roles, and users together with the row. */
  async delete(id: string, condition: WriteCondition): Promise<'deleted' | 'absent' | 'condition_failed'> {
    if (!isStorableKey(id)) return 'absent';
    return this.#database.run(async (kysely) => {
      if (condition !== 'absent') {
        const byId = kysely.deleteFrom('applications').where('id', '=', id);
        const matching = typeof condition === 'object' ? byId.where('etag', '=', condition.etag) : byId;
        const { numDeletedRows } = await matching.executeTakeFirstOrThrow();
        if (numDeletedRows > 0n) return 'deleted';
        if (typeof condition !== 'object') return 'absent';
      }
      const existing = await kysely.selectFrom('applications').select('id').where('id', '=', id).executeTakeFirst();
      return existing === undefined ? 'absent' : 'condition_failed';
    });
  }

  async list(owner: string): Promise<readonly StoredApplication[]> {
    return isStorableKey(owner) ? this.#listCached((kysely) => findOwnEtags(kysely, owner)) : [];
  }

  async listAccessible(user: Pick<Caller, 'subject' | 'roles'>): Promise<readonly StoredApplication[]> {
    if (!isStorableKey(user.subject)) return [];
    if (user.roles.length > 0) await this.#recordMissingRoles();
    return this.#listCached((kysely) => findAccessibleEtags(kysely, user));
  }

  async listShared(query: SharedQuery): Promise<readonly StoredApplication[]> {
    if (!isStorableKey(query.after) || !isStorableKey(query.user ?? '')) return [];
    await this.#recordMissingRoles();
    return this.#listCached((kysely) => findSharedEtags(kysely, query));
  }

  async listVersions(id: string): Promise<readonly ApplicationVersion[]> {
    return isStorableKey(id) ? this.#database.run((kysely) => listVersions(kysely, id)) : [];
  }

  async findVersion(id: string, version: number): Promise<StoredApplication | undefined> {
    if (!isStorableKey(id)) return undefined;
    const row = await this.#database.run((kysely) => findVersionRow(kysely, id, version));
    return row && this.#toApplication(row);
  }

  #listCached(find: (kysely: Kysely<Schema>) => Promise<readonly EtagRow[]>): Promise<readonly StoredApplication[]> {
    return this.#database.run(async (kysely) => {
      const etagRows = await find(kysely);
      const byId = new Map<string, StoredApplication>();
      for (const { id, etag } of etagRows) {
        const cached = this.#cache.find(id)?.application;
        if (cached?.etag === etag) byId.set(id, cached);
      }
      const missingIds = etagRows.filter(({ id }) => !byId.has(id)).map(({ id }) => id);
      for (const row of await findRows(kysely, missingIds)) byId.set(row.id, this.#cacheRow(row));
      return etagRows.flatMap(({ id }) => byId.get(id) ?? []);
    });
  }

  /** Records the roles and users of applications that an earlier version wrote. Applications that cannot be opened are skipped. */
  async #recordMissingRoles(): Promise<void> {
    for (let after = ''; ; ) {
      const rows = await this.#database.run((kysely) => findRowsWithUnrecordedRoles(kysely, after));
      const last = rows.at(-1);
      if (last === undefined) return;
      const opened = rows.flatMap((row) => this.#tryToOpen(row));
      await this.#database.transact((transaction) => recordRoles(transaction, opened));
      after = last.id;
    }
  }

  #tryToOpen(row: ReadRow): readonly StoredApplication[] {
    try {
      return [this.#toApplication(row)];
    } catch (error) {
      if (error instanceof StoreError) return [];
      throw error;
    }
  }

  #cacheRow(row: ReadRow): StoredApplication {
    const application = this.#toApplication(row);
    this.#cache.set(application.id, { application, sealedChars: row.sealed_entry.length });
    return application;
  }

  #toApplication({ id, owner, spelling, sealed_entry, etag, created_at_ms, updated_at_ms }: ReadRow): StoredApplication {
    const entry = openSealed<ApplicationEntry>(this.#seal, sealed_entry, id);
    const ids = spelling === null ? { id } : { id, spelling };
    return { ...ids, owner, entry, etag, createdAtMs: created_at_ms, updatedAtMs: updated_at_ms };
  }
}

/** Opens a text that is sealed for the old ID, and seals it for the new one. */
type Reseal = (sealed: string) => string;

/** Moves all rows of an application in one transaction. */
async function moveRows(
  transaction: Kysely<Schema>,
  move: ApplicationMove,
  reseal: Reseal,
): Promise<'moved' | 'absent' | 'occupied'> {
  const { from, to, replaces } = move;
  // If another transaction inserts the row in between, the next iteration finds it.
  for (;;) {
    const existingIds = new Set<string>();
    // Rows are always locked in the same order to avoid deadlocks.
    for (const id of [from, to].sort()) if ((await lockRow(transaction, id)) !== undefined) existingIds.add(id);
    if (!existingIds.has(from)) return 'absent';
    if (existingIds.has(to) && !replaces) return 'occupied';
    if (existingIds.has(to)) await transaction.deleteFrom('applications').where('id', '=', to).execute();
    if (await insertMovedRow(transaction, move, reseal)) break;
  }
  for (const table of ['application_roles', 'application_users'] as const)
    await transaction.updateTable(table).set({ application: to }).where('application', '=', from).execute();
  await moveVersions(transaction, move, reseal);
  // These rows are sealed for their own IDs, so they need no new seal.
  await transaction.updateTable('evaluation_cases').set({ application: to }).where('application', '=', from).execute();
  await transaction.updateTable('evaluations').set({ application: to }).where('application', '=', from).execute();
  await transaction.deleteFrom('applications').where('id', '=', from).execute();
  return 'moved';
}

async function insertMovedRow(
  transaction: Kysely<Schema>,
  { from, to, spelling, nowMs, etag }: ApplicationMove,
  reseal: Reseal,
): Promise<boolean> {
  const row = await transaction.selectFrom('applications').selectAll().where('id', '=', from).executeTakeFirstOrThrow();
  const roles_etag = row.roles_etag === row.etag ? etag : null;
  const inserted = await transaction
    .insertInto('applications')
    .values({
      ...row,
      id: to,
      spelling: spelling ?? null,
      sealed_entry: reseal(row.sealed_entry),
      etag,
      roles_etag,
      updated_at_ms: nowMs,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return inserted !== undefined;
}

async function moveVersions(transaction: Kysely<Schema>, { from, to }: ApplicationMove, reseal: Reseal): Promise<void> {
  const versions = await transaction.selectFrom('application_versions').selectAll().where('application', '=', from).execute();
  for (const { version, sealed_entry } of versions) {
    await transaction
      .updateTable('application_versions')
      .set({ application: to, sealed_entry: reseal(sealed_entry) })
      .where('application', '=', from)
      .where('version', '=', version)
      .execute();
  }
}

type ApplicationEntryRef = Pick<StoredApplication, 'id' | 'entry'>;

const rowsPerStatement = 500;

/** Replaces the recorded roles and users of the applications with those in their entries. */
async function writeAccess(transaction: Kysely<Schema>, applications: readonly ApplicationEntryRef[]): Promise<void> {
  for (const table of ['application_roles', 'application_users'] as const)
    await transaction.deleteFrom(table).where('application', 'in', listIds(applications)).execute();
  const listStorable = (names: readonly string[] = []) => [...new Set(names)].filter(isStorableKey);
  const roles = applications.flatMap(({ id: application, entry }) =>
    listStorable(entry.userRoles).map((role) => ({ role, application })),
  );
  const users = applications.flatMap(({ id: application, entry }) =>
    listStorable(entry.users).map((user_id) => ({ user_id, application })),
  );
  for (const rows of splitIntoBatches(roles, rowsPerStatement))
    await transaction.insertInto('application_roles').values(rows).execute();
  for (const rows of splitIntoBatches(users, rowsPerStatement))
    await transaction.insertInto('application_users').values(rows).execute();
}

/** Records the roles and users of the applications that have not changed since they were read. */
async function recordRoles(transaction: Kysely<Schema>, applications: readonly StoredApplication[]): Promise<void> {
  if (applications.length === 0) return;
  const locked = await transaction
    .updateTable('applications')
    .set(({ ref }) => ({ version: ref('version') }))
    .where('id', 'in', listIds(applications))
    .returning(['id', 'etag'])
    .execute();
  const etags = new Map(locked.map(({ id, etag }) => [id, etag]));
  const unchanged = applications.filter(({ id, etag }) => etags.get(id) === etag);
  if (unchanged.length === 0) return;
  await writeAccess(transaction, unchanged);
  await transaction
    .updateTable('applications')
    .set(({ ref }) => ({ roles_etag: ref('etag') }))
    .where('id', 'in', listIds(unchanged))
    .execute();
}

function listIds(applications: readonly ApplicationEntryRef[]): string[] {
  return applications.map(({ id }) => id);
}

/** A decrypted application. It is reused while the ETag stays the same. */
interface CachedApplication {
  readonly application: StoredApplication;
  /** Length of its sealed text. */
  readonly sealedChars: number;
}

/** Memory of an entry and its deployment per character of the sealed text. */
const bytesPerChar = 3;

/** Bounds of the cache of decrypted applications. */
const cachedApplicationBounds: BoundedCacheOptions<CachedApplication> = {
  maxBytes: 48 * 1024 ** 2,
  countBytes: ({ sealedChars }) => bytesPerChar * sealedChars,
};
