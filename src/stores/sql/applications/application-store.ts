import type { Kysely } from 'kysely';
import { type BoundedCache, type BoundedCacheOptions, Caches } from '#base/cache/bounded-cache.ts';
import { defaultJsonBounds, parseJson } from '#base/json/json.ts';
import type { Seal } from '#base/secrets/seal.ts';
import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type {
  ApplicationMove,
  ApplicationStore,
  ApplicationVersion,
  StoredApplication,
} from '#domain/deployments/application-store.ts';
import { isStorableKey } from '#domain/deployments/storable-key.ts';
import type { WriteCondition } from '#domain/files/write-condition.ts';
import { StoreFault } from '#domain/store-fault.ts';
import { requireStorable } from '../engine/read-entry.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import type { Schema, SealedRow } from '../schema.ts';
import {
  findHeads,
  findRow,
  findRows,
  type HeadRow,
  lockRow,
  openEntry,
  openHeads,
  rowsOfUnknownRoles,
  sealApplicationsAnew,
  type WrittenRow,
  writeRow,
} from './application-rows.ts';
import { findVersionRow, listVersions } from './application-versions.ts';

/** What was let in once can be read, whatever is let in today: one row must not keep a whole list from its readers. */
const storedBounds = { maxDepth: defaultJsonBounds.maxDepth, maxNodes: Number.POSITIVE_INFINITY, allowsProto: true };

/** Applications made by users, a row each; the whole entry is sealed. What has not changed is opened once. */
export class SqlApplicationStore implements ApplicationStore {
  readonly #database: SqlDatabase;
  readonly #seal: Seal;
  /** By id. */
  readonly #known: BoundedCache<KnownApplication>;

  constructor(database: SqlDatabase, seal: Seal, caches = new Caches()) {
    this.#database = database;
    this.#seal = seal;
    this.#known = caches.open('applications', knownApplicationBounds);
  }

  async find(id: string): Promise<StoredApplication | undefined> {
    if (!isStorableKey(id)) return undefined;
    const known = this.#known.find(id)?.application;
    const row = await this.#database.run((kysely) => findRow(kysely, id, known?.etag));
    if (row === undefined) return undefined;
    const { sealed_entry } = row;
    return sealed_entry === null ? known : this.#learn({ ...row, sealed_entry });
  }

  findAll(ids: readonly string[]): Promise<readonly StoredApplication[]> {
    const storable = ids.filter(isStorableKey);
    return this.#listed((kysely) => findHeads(kysely, storable));
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
      const written = await writeRow(transaction, row, condition);
      if (written === undefined) return undefined;
      await writeRoles(transaction, [application]);
      const { spelling: first } = written;
      const { spelling: _now, ...rest } = application;
      return { ...rest, ...(first !== null && { spelling: first }), owner: written.owner, createdAtMs: written.created_at_ms };
    });
  }

  async move(move: ApplicationMove): Promise<'moved' | 'absent' | 'occupied'> {
    const { from, to } = move;
    if (!isStorableKey(from)) return 'absent';
    requireStorable(to);
    const sealAnew = (sealed: string): string => this.#seal.seal(openEntry(this.#seal, sealed, from), to);
    return this.#database.transact((transaction) => moveRows(transaction, move, sealAnew));
  }

  /** Its versions and roles go with the row. */
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

  list(owner: string): Promise<readonly StoredApplication[]> {
    return this.listOpen({ subject: owner, roles: [] });
  }

  async listOpen(user: Pick<Caller, 'subject' | 'roles'>): Promise<readonly StoredApplication[]> {
    if (!isStorableKey(user.subject)) return [];
    if (user.roles.length > 0) await this.#noteUnknownRoles();
    return this.#listed((kysely) => openHeads(kysely, user));
  }

  async versions(id: string): Promise<readonly ApplicationVersion[]> {
    return isStorableKey(id) ? this.#database.run((kysely) => listVersions(kysely, id)) : [];
  }

  async findVersion(id: string, version: number): Promise<StoredApplication | undefined> {
    if (!isStorableKey(id)) return undefined;
    const row = await this.#database.run((kysely) => findVersionRow(kysely, id, version));
    return row && this.#toApplication(row);
  }

  /**
   * Seals with the newest secret what an older one sealed, so that the older can be given up. Gives how many applications there
   * were; throws StoreFault if some could not be opened, once the others are done.
   */
  sealAnew(): Promise<number> {
    return sealApplicationsAnew({ database: this.#database, seal: this.#seal });
  }

  #listed(find: (kysely: Kysely<Schema>) => Promise<readonly HeadRow[]>): Promise<readonly StoredApplication[]> {
    return this.#database.run(async (kysely) => {
      const heads = await find(kysely);
      const byId = new Map<string, StoredApplication>();
      for (const { id, etag } of heads) {
        const known = this.#known.find(id)?.application;
        if (known?.etag === etag) byId.set(id, known);
      }
      const others = heads.filter(({ id }) => !byId.has(id)).map(({ id }) => id);
      for (const row of await findRows(kysely, others)) byId.set(row.id, this.#learn(row));
      return heads.flatMap(({ id }) => byId.get(id) ?? []);
    });
  }

  /** Once for each application of an earlier version of the program; one that cannot be opened has no roles. */
  async #noteUnknownRoles(): Promise<void> {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const behind: string = after;
      const rows = await this.#database.run((kysely) => rowsOfUnknownRoles(kysely, behind));
      after = rows.at(-1)?.id;
      if (rows.length === 0) return;
      const opened = rows.flatMap((row) => this.#tryToOpen(row));
      await this.#database.transact((transaction) => noteRoles(transaction, opened));
    }
  }

  #tryToOpen(row: SealedRow): readonly StoredApplication[] {
    try {
      return [this.#toApplication(row)];
    } catch (thrown) {
      if (thrown instanceof StoreFault) return [];
      throw thrown;
    }
  }

  #learn(row: SealedRow): StoredApplication {
    const application = this.#toApplication(row);
    this.#known.set(application.id, { application, chars: row.sealed_entry.length });
    return application;
  }

  #toApplication({ id, owner, spelling, sealed_entry, etag, created_at_ms, updated_at_ms }: SealedRow): StoredApplication {
    const entry = parseJson(openEntry(this.#seal, sealed_entry, id), storedBounds) as ApplicationEntry;
    const named = spelling === null ? { id } : { id, spelling };
    return { ...named, owner, entry, etag, createdAtMs: created_at_ms, updatedAtMs: updated_at_ms };
  }
}

/** What is sealed for one id, sealed for another. */
type SealAnew = (sealed: string) => string;

/** Moves the rows of an application, all or none. */
async function moveRows(
  transaction: Kysely<Schema>,
  move: ApplicationMove,
  sealAnew: SealAnew,
): Promise<'moved' | 'absent' | 'occupied'> {
  const { from, to, replaces } = move;
  // Where another one makes the row in between, it is there the next time.
  for (;;) {
    const there = new Set<string>();
    // Always in one order: two who lock the same rows never wait for each other.
    for (const id of [from, to].sort()) if ((await lockRow(transaction, id)) !== undefined) there.add(id);
    if (!there.has(from)) return 'absent';
    if (there.has(to) && !replaces) return 'occupied';
    if (there.has(to)) await transaction.deleteFrom('applications').where('id', '=', to).execute();
    if (await insertMoved(transaction, move, sealAnew)) break;
  }
  await transaction.updateTable('application_roles').set({ application: to }).where('application', '=', from).execute();
  await moveVersions(transaction, move, sealAnew);
  // These are sealed for ids of their own.
  await transaction.updateTable('evaluation_cases').set({ application: to }).where('application', '=', from).execute();
  await transaction.updateTable('evaluations').set({ application: to }).where('application', '=', from).execute();
  await transaction.deleteFrom('applications').where('id', '=', from).execute();
  return 'moved';
}

async function insertMoved(
  transaction: Kysely<Schema>,
  { from, to, spelling, nowMs, etag }: ApplicationMove,
  sealAnew: SealAnew,
): Promise<boolean> {
  const row = await transaction.selectFrom('applications').selectAll().where('id', '=', from).executeTakeFirstOrThrow();
  const roles_etag = row.roles_etag === row.etag ? etag : null;
  const inserted = await transaction
    .insertInto('applications')
    .values({
      ...row,
      id: to,
      spelling: spelling ?? null,
      sealed_entry: sealAnew(row.sealed_entry),
      etag,
      roles_etag,
      updated_at_ms: nowMs,
    })
    .onConflict((there) => there.doNothing())
    .returning('id')
    .executeTakeFirst();
  return inserted !== undefined;
}

async function moveVersions(transaction: Kysely<Schema>, { from, to }: ApplicationMove, sealAnew: SealAnew): Promise<void> {
  const versions = await transaction.selectFrom('application_versions').selectAll().where('application', '=', from).execute();
  for (const { version, sealed_entry } of versions) {
    await transaction
      .updateTable('application_versions')
      .set({ application: to, sealed_entry: sealAnew(sealed_entry) })
      .where('application', '=', from)
      .where('version', '=', version)
      .execute();
  }
}

type Named = Pick<StoredApplication, 'id' | 'entry'>;

const rowsAtOnce = 500;

/** Notes the roles that applications name, in the place of those they named before. */
async function writeRoles(transaction: Kysely<Schema>, applications: readonly Named[]): Promise<void> {
  await transaction.deleteFrom('application_roles').where('application', 'in', idsOf(applications)).execute();
  const rows = applications.flatMap(({ id, entry: { userRoles = [] } }) =>
    [...new Set(userRoles)].filter(isStorableKey).map((role) => ({ role, application: id })),
  );
  for (let from = 0; from < rows.length; from += rowsAtOnce) {
    await transaction
      .insertInto('application_roles')
      .values(rows.slice(from, from + rowsAtOnce))
      .execute();
  }
}

/** Notes the roles of those applications that are still as they were read. */
async function noteRoles(transaction: Kysely<Schema>, read: readonly StoredApplication[]): Promise<void> {
  if (read.length === 0) return;
  const locked = await transaction
    .updateTable('applications')
    .set(({ ref }) => ({ version: ref('version') }))
    .where('id', 'in', idsOf(read))
    .returning(['id', 'etag'])
    .execute();
  const etags = new Map(locked.map(({ id, etag }) => [id, etag]));
  const same = read.filter(({ id, etag }) => etags.get(id) === etag);
  if (same.length === 0) return;
  await writeRoles(transaction, same);
  await transaction
    .updateTable('applications')
    .set(({ ref }) => ({ roles_etag: ref('etag') }))
    .where('id', 'in', idsOf(same))
    .execute();
}

function idsOf(applications: readonly Named[]): string[] {
  return applications.map(({ id }) => id);
}

/** An application that was opened before: as long as its ETag is the same it need not be decrypted and parsed again. */
interface KnownApplication {
  readonly application: StoredApplication;
  /** How long its sealed text is. */
  readonly chars: number;
}

/** Of an entry and the deployment that is made of it, for each character of the sealed text. */
const bytesPerChar = 3;

/** The cache that opened applications lie in, by id. */
const knownApplicationBounds: BoundedCacheOptions<KnownApplication> = {
  maxBytes: 48 * 1024 ** 2,
  bytesOf: ({ chars }) => bytesPerChar * chars,
};
