import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import type { ScimGroup, ScimUser } from '#domain/scim/scim-store.ts';
import { StoreError } from '#domain/store-error.ts';
import { freshSqlite } from '#test/sql-engines.ts';
import { SqlScimStore } from '../scim/scim-store.ts';
import { SqlDatabase } from './sql-database.ts';

/** Runs the test with a database that calls `check` for each failure. */
async function withWatchedDatabase(test: (database: SqlDatabase, check: () => void) => Promise<void>): Promise<void> {
  await using fresh = await freshSqlite();
  await using opened = await fresh.open({ timeoutMs: 60_000 });
  await opened.database.run((kysely) => {
    const check = vi.fn<() => void>();
    const availability = { isUnavailable: false, check };
    return test(new SqlDatabase(kysely, { engine: 'sqlite', timeoutMs: 60_000, availability }), check);
  });
}

const times = { createdAtMs: 1, updatedAtMs: 1 };
const toUser = (id: string, userName = id): ScimUser => ({
  ...{ id, userName, externalId: null, isActive: true, attributes: {}, ...times },
});
const toGroup = (id: string, displayName = id): ScimGroup => ({ id, displayName, externalId: null, ...times });

describe('SqlDatabase', () => {
  it('rolls a transaction back and returns the value without an availability check', () =>
    withWatchedDatabase(async (database, check) => {
      const outcome = database.transact<'full' | 'stored'>(async (transaction, rollBack) => {
        await transaction.insertInto('buckets').values({ bucket: 'b', used_bytes: 1 }).execute();
        return rollBack('full');
      });
      expect(await outcome).toBe('full');
      expect(await database.run((kysely) => kysely.selectFrom('buckets').selectAll().execute())).toEqual([]);
      expect(check).not.toHaveBeenCalled();
    }));

  it('checks the availability after an error in a transaction', () =>
    withWatchedDatabase(async (database, check) => {
      const failing = database.transact((transaction) => sql`select nothing`.execute(transaction));
      await expect(failing).rejects.toThrow(StoreError);
      expect(check).toHaveBeenCalledOnce();
    }));

  it('does not check the availability after conflicts of provisioned users and groups', () =>
    withWatchedDatabase(async (database, check) => {
      const store = new SqlScimStore(database, new Seal([new Secret('the secret of the test')]));
      const readRevision = async (): Promise<number> => (await store.readRoleMembers(-1, [])).revision;
      const [user, group] = [toUser('one'), toGroup('team')];
      expect([await store.addUser(user, undefined), await store.addGroup(group, [])]).toEqual(['stored', 'stored']);
      const revision = await readRevision();
      expect(await store.addUser(toUser('two', 'ONE'), undefined)).toBe('taken');
      expect(await store.replaceUser({ ...user, externalId: 'x' }, user, undefined)).toBe('outdated');
      expect(await store.deleteUser('two', undefined)).toBe('missing');
      expect(await store.addGroup(toGroup('other'), ['two'])).toBe('unknown');
      expect(await store.findGroup('other')).toBeUndefined();
      expect(await readRevision()).toBe(revision);
      expect(check).not.toHaveBeenCalled();
    }));
});
