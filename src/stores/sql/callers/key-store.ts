import { type Kysely, sql } from 'kysely';
import { Type } from 'typebox';
import { splitIntoBatches } from '#base/stream/batches.ts';
import { isStorableKey } from '#base/text/storable-key.ts';
import { dayMs } from '#base/time/clock.ts';
import { requireShape } from '#contract/errors/request-error.ts';
import { NewKey } from '#contract/key-requests.ts';
import { compileShape } from '#contract/schemas/compile-shape.ts';
import type { KeyPage, KeyRef, KeyStore, KeyUpdates, Rotation, StoredKey } from '#domain/callers/key-store.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { parseTextList, type ReportInvalidEntry, readEntry, requireStorable, withoutInvalid } from '../engine/stored-values.ts';
import type { Schema } from '../schema.ts';
import type { KeyRow } from './caller-tables.ts';

const userSource = 'user';
/** The parts of a key that determine its rights. */
const rightsCheck = compileShape(
  Type.Object({
    ...{ roles: Type.Array(Type.String()), deployments: NewKey.properties.deployments, allowedIps: NewKey.properties.allowedIps },
    ...{ digest: Type.String({ pattern: '^[0-9a-f]{64}$' }), expiresAtMs: Type.Integer(), formerUntilMs: Type.Integer() },
  }),
);
const usesPerBatch = 200;
/** Minimum time between two stored uses of a key. */
const minUseIntervalMs = 60_000;
/** Retention of deleted keys. It must exceed the time after which a node without updates reads all keys again. */
const deletedRetentionMs = 10 * 60_000;
/** Retention of expired keys. The expired keys of an owner are deleted earlier if the owner creates another key. */
const expiredRetentionMs = 30 * dayMs;

/** Keys of users in a table with one row each. A row contains the digest and the prefix of the key, not the key. */
export class SqlKeyStore implements KeyStore {
  readonly #database: SqlDatabase;
  readonly #reportInvalid: ReportInvalidEntry;

  constructor(database: SqlDatabase, reportInvalid: ReportInvalidEntry = () => undefined) {
    this.#database = database;
    this.#reportInvalid = reportInvalid;
  }

  add(key: StoredKey, maxKeys: number): Promise<'added' | 'full'> {
    requireStorable(key.id, key.owner);
    const nowMs = key.createdAtMs;
    return this.#database.transact(async (transaction) => {
      const revision = await incrementRevision(transaction);
      await deleteExpired(transaction, key.owner, nowMs);
      const { count } = await transaction
        .selectFrom('api_keys')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('owner', '=', key.owner)
        .where('deleted_at_ms', 'is', null)
        .executeTakeFirstOrThrow();
      if (count >= maxKeys) return 'full';
      await transaction
        .insertInto('api_keys')
        .values({ ...toRow(key), revision })
        .execute();
      return 'added';
    });
  }

  async list(owner: string): Promise<readonly StoredKey[]> {
    if (!isStorableKey(owner)) return [];
    const rows = await this.#database.run((kysely) =>
      kysely
        .selectFrom('api_keys')
        .selectAll()
        .where('owner', '=', owner)
        .where('deleted_at_ms', 'is', null)
        .orderBy('created_at_ms', 'desc')
        .orderBy('id')
        .execute(),
    );
    return withoutInvalid(rows.map((row) => this.#toKey(row)));
  }

  async rotate(keyRef: KeyRef, { digest, prefix, atMs, formerUntilMs }: Rotation): Promise<StoredKey | undefined> {
    if (!isStorableKey(keyRef.id)) return undefined;
    const row = await this.#database.transact(async (transaction) =>
      transaction
        .updateTable('api_keys')
        .set(({ ref, eb }) => ({
          ...{ digest, prefix, former_digest: ref('digest'), former_until_ms: formerUntilMs },
          version: eb('version', '+', 1),
        }))
        .set({ revision: await incrementRevision(transaction) })
        .where('id', '=', keyRef.id)
        .where('owner', '=', keyRef.owner)
        .where('deleted_at_ms', 'is', null)
        .where('expires_at_ms', '>', atMs)
        .returningAll()
        .executeTakeFirst(),
    );
    return row && this.#toKey(row);
  }

  async delete({ owner, id }: KeyRef, nowMs: number): Promise<boolean> {
    return (await this.#delete(id, owner, nowMs)) !== undefined;
  }

  revoke(id: string, nowMs: number): Promise<string | undefined> {
    return this.#delete(id, undefined, nowMs);
  }

  async #delete(id: string, owner: string | undefined, nowMs: number): Promise<string | undefined> {
    if (!isStorableKey(id)) return undefined;
    return this.#database.transact(async (transaction) => {
      const deleted = await transaction
        .updateTable('api_keys')
        .set({ deleted_at_ms: nowMs, revision: await incrementRevision(transaction) })
        .where('id', '=', id)
        .$if(owner !== undefined, (query) => query.where('owner', '=', owner ?? ''))
        .where('deleted_at_ms', 'is', null)
        .returning('owner')
        .executeTakeFirst();
      return deleted?.owner;
    });
  }

  async listPage({ owner, beforeMs, beforeId, limit }: KeyPage): Promise<readonly StoredKey[]> {
    if (owner !== undefined && !isStorableKey(owner)) return [];
    const rows = await this.#database.run((kysely) =>
      kysely
        .selectFrom('api_keys')
        .selectAll()
        .where('deleted_at_ms', 'is', null)
        .$if(owner !== undefined, (query) => query.where('owner', '=', owner ?? ''))
        .$if(Number.isFinite(beforeMs), (query) => query.where(sql<boolean>`(created_at_ms, id) < (${beforeMs}, ${beforeId})`))
        .orderBy('created_at_ms', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),
    );
    return withoutInvalid(rows.map((row) => this.#toKey(row)));
  }

  async recordSignIn(owner: string, token: Pick<StoredKey, 'project' | 'roles' | 'signedInAtMs'>): Promise<void> {
    const { project, roles, signedInAtMs } = token;
    await this.#database.transact(async (transaction) =>
      transaction
        .updateTable('api_keys')
        .set({ project, roles: JSON.stringify(roles), signed_in_at_ms: signedInAtMs })
        .set({ revision: await incrementRevision(transaction) })
        .where('owner', '=', owner)
        .where('source', '=', userSource)
        .where('signed_in_at_ms', '<=', signedInAtMs)
        .execute(),
    );
  }

  async recordUses(uses: ReadonlyMap<string, number>): Promise<void> {
    // All nodes write in the same order to avoid deadlocks. A batch is one transaction, so that the disk is synced once for it.
    for (const batch of splitIntoBatches([...uses].toSorted(), usesPerBatch))
      await this.#database.transact(async (transaction) => {
        for (const [id, atMs] of batch)
          await transaction
            .updateTable('api_keys')
            .set({ last_used_at_ms: atMs })
            .where('id', '=', id)
            .where(({ eb, or }) => or([eb('last_used_at_ms', 'is', null), eb('last_used_at_ms', '<', atMs - minUseIntervalMs)]))
            .execute();
      });
  }

  /** Reads the revision first. A change between the two reads is returned now, and again by the next call. */
  readUpdates(sinceRevision: number): Promise<KeyUpdates> {
    return this.#database.run(async (kysely) => {
      const { revision } = await kysely.selectFrom('api_key_changes').select('revision').executeTakeFirstOrThrow();
      if (revision === sinceRevision) return { revision, keys: [], deleted: [] };
      const rows = await kysely.selectFrom('api_keys').selectAll().where('revision', '>', sinceRevision).execute();
      const keys: StoredKey[] = [];
      const deleted: string[] = [];
      for (const row of rows) {
        const key = row.deleted_at_ms === null ? this.#toKey(row) : undefined;
        if (key === undefined) deleted.push(row.id);
        else keys.push(key);
      }
      return { revision, keys, deleted };
    });
  }

  /** Returns undefined for an invalid row, which no node accepts as a key. */
  #toKey(row: KeyRow): StoredKey | undefined {
    return readEntry({ kind: 'key', id: row.id, reportInvalid: this.#reportInvalid }, () => {
      const key = toKey(row);
      const { roles, deployments, allowedIps, digest, expiresAtMs, former } = key;
      requireShape(rightsCheck, {
        ...{ roles, digest, expiresAtMs, formerUntilMs: former?.untilMs ?? 0 },
        ...(deployments !== null && { deployments }),
        ...(allowedIps !== null && { allowedIps }),
      });
      return key;
    });
  }
}

async function incrementRevision(transaction: Kysely<Schema>): Promise<number> {
  const { revision } = await transaction
    .updateTable('api_key_changes')
    .set(({ eb }) => ({ revision: eb('revision', '+', 1) }))
    .returning('revision')
    .executeTakeFirstOrThrow();
  return revision;
}

/** Deletes rows of keys that no node accepts any longer. */
async function deleteExpired(transaction: Kysely<Schema>, owner: string, nowMs: number): Promise<void> {
  await transaction
    .deleteFrom('api_keys')
    .where(({ eb, and, or }) =>
      or([
        eb('deleted_at_ms', '<=', nowMs - deletedRetentionMs),
        eb('expires_at_ms', '<=', nowMs - expiredRetentionMs),
        and([eb('owner', '=', owner), eb('expires_at_ms', '<=', nowMs), eb('deleted_at_ms', 'is', null)]),
      ]),
    )
    .execute();
}

function toRow(key: StoredKey): Omit<KeyRow, 'revision'> {
  return {
    ...{ id: key.id, source: userSource, owner: key.owner, digest: key.digest, prefix: key.prefix, name: key.name },
    ...{ former_digest: key.former?.digest ?? null, former_until_ms: key.former?.untilMs ?? null, version: key.version },
    ...{ project: key.project, roles: JSON.stringify(key.roles), signed_in_at_ms: key.signedInAtMs },
    deployments: key.deployments === null ? null : JSON.stringify(key.deployments),
    allowed_ips: key.allowedIps === null ? null : JSON.stringify(key.allowedIps),
    ...{ created_at_ms: key.createdAtMs, expires_at_ms: key.expiresAtMs },
    ...{ last_used_at_ms: key.lastUsedAtMs, deleted_at_ms: null },
  };
}

function toKey(row: KeyRow): StoredKey {
  const { former_digest: former, former_until_ms: untilMs } = row;
  return {
    ...{ id: row.id, owner: row.owner, project: row.project, roles: parseTextList(row.roles) },
    ...{ signedInAtMs: row.signed_in_at_ms, name: row.name, prefix: row.prefix, digest: row.digest, version: row.version },
    former: former === null || untilMs === null ? null : { digest: former, untilMs },
    deployments: row.deployments === null ? null : parseTextList(row.deployments),
    allowedIps: row.allowed_ips === null ? null : parseTextList(row.allowed_ips),
    ...{ createdAtMs: row.created_at_ms, expiresAtMs: row.expires_at_ms, lastUsedAtMs: row.last_used_at_ms },
  };
}
