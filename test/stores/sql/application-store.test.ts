import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { Seal } from '#base/seal.ts';
import { Secret } from '#base/secret.ts';
import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import type { StoredApplication } from '#domain/application-store.ts';
import { StoreFault } from '#domain/store-fault.ts';
import { SqlApplicationStore } from '#stores/sql/application-store.ts';
import type { SqlDatabase } from '#stores/sql/sql-database.ts';
import { describeOnEach } from './engines.ts';

const [oldest, newest] = [new Secret('the secret of last year'), new Secret('the secret of this year')];
const seal = new Seal([newest]);

function application(fields: Partial<StoredApplication> = {}): StoredApplication {
  const entry: ApplicationEntry = {
    endpoint: 'https://app.test/chat?key=canary-of-the-address',
    displayName: 'Grüße 𝒳',
    features: { consentRequired: true },
    defaults: { temperature: 0.5, nested: { list: [1, null, 'two'] } },
    dependencies: ['a', 'b'],
    maxRetryAttempts: 1,
  };
  const id = `applications/bucket/${randomUUID()}`;
  return { id, owner: 'owner', entry, etag: 'one', createdAtMs: 1_763_700_000_123, updatedAtMs: 1_763_700_000_456, ...fields };
}

describeOnEach('applications made by users', (node) => {
  const store = (database: SqlDatabase = node.database) => new SqlApplicationStore(database, seal);

  it('are read as they were saved, on every node at once', async () => {
    const saved = application();
    expect(await store().put(saved, undefined)).toEqual(saved);
    expect(await store().find(saved.id)).toEqual(saved);
    expect(await store(node.other).find(saved.id)).toEqual(saved);
    expect(await store().find(`${saved.id}x`)).toBeUndefined();
  });

  it('keep who made them, and when', async () => {
    const saved = application();
    const again = { ...saved, owner: 'somebody else', etag: 'two', createdAtMs: 5, updatedAtMs: 9 };
    const kept = { ...again, owner: saved.owner, createdAtMs: saved.createdAtMs };
    await store().put(saved, undefined);
    expect(await store().put(again, undefined)).toEqual(kept);
    expect(await store().find(saved.id)).toEqual(kept);
    expect(await store().put({ ...again, etag: 'three' }, { etag: 'two' })).toEqual({ ...kept, etag: 'three' });
    expect(await store().put({ ...again, etag: 'four' }, 'present')).toEqual({ ...kept, etag: 'four' });
  });

  it('are saved only where the condition holds', async () => {
    const saved = application();
    expect(await store().put(saved, 'present')).toBeUndefined();
    expect(await store().put(saved, { etag: 'one' })).toBeUndefined();
    expect(await store().find(saved.id)).toBeUndefined();
    expect(await store().put(saved, 'absent')).toEqual(saved);
    expect(await store().put({ ...saved, etag: 'two' }, 'absent')).toBeUndefined();
    expect(await store().put({ ...saved, etag: 'two' }, { etag: 'other' })).toBeUndefined();
    expect(await store().find(saved.id)).toEqual(saved);
  });

  it('are made by one, and changed by one, of those who do it at the same time', async () => {
    const saved = application();
    const many = (from: string) => Array.from({ length: 10 }, (_, index) => ({ ...saved, etag: `${from} ${index}` }));
    const nodes = [node.database, node.other];
    const race = (each: readonly StoredApplication[], condition: Parameters<SqlApplicationStore['put']>[1]) =>
      Promise.all(each.map((one, index) => store(nodes[index % 2]).put(one, condition)));
    const made = (await race(many('made'), 'absent')).filter((one) => one !== undefined);
    expect(made).toHaveLength(1);
    const changed = (await race(many('changed'), { etag: made[0]?.etag ?? '' })).filter((one) => one !== undefined);
    expect(changed).toHaveLength(1);
    expect(await store().find(saved.id)).toEqual(changed[0]);
  });

  it('are deleted where the condition holds, and it is told why where not', async () => {
    const { id } = application();
    for (const condition of [undefined, 'present', 'absent', { etag: 'one' }] as const) {
      expect(await store().delete(id, condition)).toBe('absent');
    }
    await store().put(application({ id }), undefined);
    expect(await store().delete(id, 'absent')).toBe('condition_failed');
    expect(await store().delete(id, { etag: 'other' })).toBe('condition_failed');
    expect(await store().delete(id, { etag: 'one' })).toBe('deleted');
    expect(await store().find(id)).toBeUndefined();
    await store().put(application({ id }), undefined);
    expect(await store().delete(id, 'present')).toBe('deleted');
    await store().put(application({ id }), undefined);
    const outcomes = await Promise.all([node.database, node.other].map((database) => store(database).delete(id, undefined)));
    expect(outcomes.toSorted()).toEqual(['absent', 'deleted']);
  });

  it('are listed by id, of one owner or of everybody', async () => {
    const owner = randomUUID();
    const prefix = `applications/${owner}/`;
    const ids = ['B', 'a', 'b', 'é', '\uff5e', '\u{1d4b3}'].map((name) => prefix + name);
    for (const id of ids.toReversed()) await store().put(application({ id, owner }), undefined);
    await store().put(application({ id: `${prefix}z`, owner: `${owner}2` }), undefined);
    expect((await store().list(owner)).map(({ id }) => id)).toEqual(ids);
    const all = (await store().list(undefined)).map(({ id }) => id);
    expect(all).toEqual(expect.arrayContaining([...ids, `${prefix}z`]));
    expect(all).toEqual(all.toSorted((one, another) => Buffer.compare(Buffer.from(one), Buffer.from(another))));
  });

  it('are never found or saved under a text that an engine would change', async () => {
    for (const odd of ['applications/\ud800', 'applications/\0', 'x'.repeat(1281)]) {
      await expect(store().put(application({ id: odd }), undefined)).rejects.toThrow(StoreFault);
      await expect(store().put(application({ owner: odd }), undefined)).rejects.toThrow(StoreFault);
      expect(await store().find(odd)).toBeUndefined();
      expect(await store().delete(odd, undefined)).toBe('absent');
      expect(await store().list(odd)).toEqual([]);
    }
  });

  it('lie in the database without a word of their settings', async () => {
    const saved = application();
    await store().put(saved, undefined);
    const { rows } = await node.database.run((kysely) => sql`select * from applications`.execute(kysely));
    expect(JSON.stringify(rows)).toContain(saved.id);
    expect(JSON.stringify(rows)).not.toMatch(/canary|endpoint|app\.test/);
  });

  it('do not open in another row, nor once they were altered', async () => {
    const [one, another] = [application(), application()];
    await store().put(one, undefined);
    await store().put(another, undefined);
    const move = sql`update applications set sealed_entry = (select sealed_entry from applications where id = ${one.id})
      where id = ${another.id}`;
    await node.database.run((kysely) => move.execute(kysely));
    await expect(store().find(another.id)).rejects.toThrow(StoreFault);
    expect(await store().find(one.id)).toEqual(one);
    await store().delete(another.id, undefined);
  });

  it('are sealed anew with the newest secret, so that the older can be given up', async () => {
    const saved = application();
    const keeping = (...secrets: readonly Secret[]) => new SqlApplicationStore(node.other, new Seal(secrets));
    await keeping(oldest).put(saved, undefined);
    await expect(store().find(saved.id)).rejects.toThrow('cannot be decrypted');
    const rotating = keeping(newest, oldest);
    expect(await rotating.find(saved.id)).toEqual(saved);
    expect(await rotating.sealAnew()).toBe(1);
    expect(await rotating.sealAnew()).toBe(0);
    expect(await store().find(saved.id)).toEqual(saved);
    await expect(keeping(oldest).find(saved.id)).rejects.toThrow(StoreFault);
  });
});
