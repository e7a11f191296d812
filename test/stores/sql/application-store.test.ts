import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import type { StoredApplication } from '#domain/deployments/application-store.ts';
import { StoreError } from '#domain/store-error.ts';
import { SqlApplicationStore } from '#stores/sql/applications/application-store.ts';
import type { SqlDatabase } from '#stores/sql/engine/sql-database.ts';
import { describeOnEach } from '#test/sql-engines.ts';

const seal = new Seal([new Secret('the secret of the test')]);

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

describeOnEach('saved applications', (node) => {
  const store = (database: SqlDatabase = node.database) => new SqlApplicationStore(database, seal);

  it('are read unchanged on every node immediately', async () => {
    const saved = application();
    expect(await store().put(saved, undefined)).toEqual(saved);
    expect(await store().find(saved.id)).toEqual(saved);
    expect(await store(node.otherDatabase).find(saved.id)).toEqual(saved);
    expect(await store().find(`${saved.id}x`)).toBeUndefined();
  });

  it('are read and listed even if they are no longer valid', async () => {
    const owner = randomUUID();
    const invalidText = application({ owner });
    const features = JSON.parse('{"__proto__":{"a":1}}');
    await store().put({ ...invalidText, entry: { ...invalidText.entry, features } }, undefined);
    expect((await store(node.otherDatabase).list(owner)).map(({ id }) => id)).toEqual([invalidText.id]);
    expect(Object.keys((await store(node.otherDatabase).find(invalidText.id))?.entry.features ?? {})).toEqual(['__proto__']);
    expect(await store(node.otherDatabase).delete(invalidText.id, undefined)).toBe('deleted');
  });

  it('keep their owner and creation time', async () => {
    const saved = application();
    const replacement = { ...saved, owner: 'somebody else', etag: 'two', createdAtMs: 5, updatedAtMs: 9 };
    const expectedApplication = { ...replacement, owner: saved.owner, createdAtMs: saved.createdAtMs };
    await store().put(saved, undefined);
    expect(await store().put(replacement, undefined)).toEqual(expectedApplication);
    expect(await store().find(saved.id)).toEqual(expectedApplication);
    expect(await store().put({ ...replacement, etag: 'three' }, { etag: 'two' })).toEqual({
      ...expectedApplication,
      etag: 'three',
    });
    expect(await store().put({ ...replacement, etag: 'four' }, 'present')).toEqual({ ...expectedApplication, etag: 'four' });
  });

  it('are saved only if the condition is true', async () => {
    const saved = application();
    expect(await store().put(saved, 'present')).toBeUndefined();
    expect(await store().put(saved, { etag: 'one' })).toBeUndefined();
    expect(await store().find(saved.id)).toBeUndefined();
    expect(await store().put(saved, 'absent')).toEqual(saved);
    expect(await store().put({ ...saved, etag: 'two' }, 'absent')).toBeUndefined();
    expect(await store().put({ ...saved, etag: 'two' }, { etag: 'other' })).toBeUndefined();
    expect(await store().find(saved.id)).toEqual(saved);
  });

  it('are created and changed by a single winner among concurrent writers', async () => {
    const saved = application();
    const many = (from: string) => Array.from({ length: 10 }, (_, index) => ({ ...saved, etag: `${from} ${index}` }));
    const nodes = [node.database, node.otherDatabase];
    const race = (each: readonly StoredApplication[], condition: Parameters<SqlApplicationStore['put']>[1]) =>
      Promise.all(each.map((one, index) => store(nodes[index % 2]).put(one, condition)));
    const created = (await race(many('made'), 'absent')).filter((one) => one !== undefined);
    expect(created).toHaveLength(1);
    const changed = (await race(many('changed'), { etag: created[0]?.etag ?? '' })).filter((one) => one !== undefined);
    expect(changed).toHaveLength(1);
    expect(await store().find(saved.id)).toEqual(changed[0]);
  });

  it('are deleted if the condition is true, otherwise the reason is returned', async () => {
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
    const outcomes = await Promise.all(
      [node.database, node.otherDatabase].map((database) => store(database).delete(id, undefined)),
    );
    expect(outcomes.toSorted()).toEqual(['absent', 'deleted']);
  });

  it('are listed by ID for one owner', async () => {
    const owner = randomUUID();
    const prefix = `applications/${owner}/`;
    const ids = ['B', 'a', 'b', 'é', '\uff5e', '\u{1d4b3}'].map((name) => prefix + name);
    for (const id of ids.toReversed()) await store().put(application({ id, owner }), undefined);
    await store().put(application({ id: `${prefix}z`, owner: `${owner}2` }), undefined);
    expect((await store().list(owner)).map(({ id }) => id)).toEqual(ids);
  });

  it('are never found or saved with an ID or owner that a database engine would change', async () => {
    for (const invalidText of ['applications/\ud800', 'applications/\0', 'x'.repeat(1281)]) {
      await expect(store().put(application({ id: invalidText }), undefined)).rejects.toThrow(StoreError);
      await expect(store().put(application({ owner: invalidText }), undefined)).rejects.toThrow(StoreError);
      expect(await store().find(invalidText)).toBeUndefined();
      expect(await store().delete(invalidText, undefined)).toBe('absent');
      expect(await store().list(invalidText)).toEqual([]);
    }
  });

  it('are stored without readable settings', async () => {
    const saved = application();
    await store().put(saved, undefined);
    const { rows } = await node.database.run((kysely) => sql`select * from applications`.execute(kysely));
    expect(JSON.stringify(rows)).toContain(saved.id);
    expect(JSON.stringify(rows)).not.toMatch(/canary|endpoint|app\.test/);
  });

  it('cannot be decrypted in another row or after a change', async () => {
    const [one, another] = [application(), application()];
    await store().put(one, undefined);
    await store().put(another, undefined);
    const move = sql`update applications set sealed_entry = (select sealed_entry from applications where id = ${one.id})
      where id = ${another.id}`;
    await node.database.run((kysely) => move.execute(kysely));
    await expect(store().find(another.id)).rejects.toThrow(StoreError);
    expect(await store().find(one.id)).toEqual(one);
    await store().delete(another.id, undefined);
  });

  it('are decrypted once until they change', async () => {
    const [owner, saved] = [randomUUID(), application()];
    await store().put({ ...saved, owner }, undefined);
    const reader = store();
    const first = await reader.find(saved.id);
    const spoil = sql`update applications set sealed_entry = 'spoilt' where id = ${saved.id}`;
    await node.otherDatabase.run((kysely) => spoil.execute(kysely));
    expect(await reader.find(saved.id)).toBe(first);
    expect((await reader.list(owner))[0]).toBe(first);
    expect((await reader.listAccessible({ subject: owner, roles: ['none'] }))[0]).toBe(first);
    await store(node.otherDatabase).put({ ...saved, etag: 'two' }, undefined);
    expect(await reader.list(owner)).toEqual([{ ...saved, owner, etag: 'two' }]);
    await store(node.otherDatabase).delete(saved.id, undefined);
    expect(await reader.find(saved.id)).toBeUndefined();
    expect(await reader.list(owner)).toEqual([]);
  });
});

describeOnEach('applications that a user can use', (node) => {
  const store = (database: SqlDatabase = node.database) => new SqlApplicationStore(database, seal);
  const naming = (...userRoles: string[]): ApplicationEntry => ({ ...application().entry, userRoles });

  async function open(subject: string, ...roles: string[]): Promise<readonly string[]> {
    return (await store().listAccessible({ subject, roles })).map(({ id }) => id);
  }

  it('are the user’s own and those that name a role, each once, by ID', async () => {
    const [ada, bob, role] = [randomUUID(), randomUUID(), randomUUID()];
    const ids = ['b', 'a', 'c', 'd'].map((name) => `applications/${ada}/${name}`);
    const [own = '', both = '', named = '', otherRole = ''] = ids;
    await store().put(application({ id: own, owner: ada }), undefined);
    await store().put(application({ id: both, owner: ada, entry: naming(role, role, 'x') }), undefined);
    await store().put(application({ id: named, owner: bob, entry: naming('y', role) }), undefined);
    await store().put(application({ id: otherRole, owner: bob, entry: naming(`${role}2`) }), undefined);
    expect(await open(ada, role, 'z')).toEqual([both, own, named]);
    expect(await open(ada)).toEqual([both, own]);
    expect(await open('nobody', role)).toEqual([both, named]);
    expect(await open('nobody', 'z', '\0', '\ud800', 'x'.repeat(1281))).toEqual([]);
    expect(await open('\0', role)).toEqual([]);
  });

  it('exclude applications after the role is removed or they are deleted', async () => {
    const [saved, role] = [application({ entry: naming('first') }), randomUUID()];
    await store().put({ ...saved, entry: naming(role) }, undefined);
    expect(await open('nobody', role)).toEqual([saved.id]);
    await store(node.otherDatabase).put({ ...saved, etag: 'two' }, undefined);
    expect(await open('nobody', role)).toEqual([]);
    await store().put({ ...saved, etag: 'three', entry: naming(role) }, undefined);
    await store().delete(saved.id, undefined);
    await store().put(saved, undefined);
    expect(await open('nobody', role)).toEqual([]);
  });

  it('include applications that an earlier version saved without roles', async () => {
    const [before, role] = [Array.from({ length: 3 }, () => application({ entry: naming('old') })), randomUUID()];
    for (const each of before) await store().put(each, undefined);
    const unreadable = application();
    await store().put(unreadable, undefined);
    for (const { id } of before) {
      const sealed = seal.seal(JSON.stringify(naming(role)), id);
      const write = sql`update applications set sealed_entry = ${sealed}, etag = 'of the old program' where id = ${id}`;
      await node.database.run((kysely) => write.execute(kysely));
    }
    const spoil = sql`update applications set sealed_entry = 'spoilt', roles_etag = null where id = ${unreadable.id}`;
    await node.database.run((kysely) => spoil.execute(kysely));
    expect(await open('nobody', 'old', role)).toEqual(before.map(({ id }) => id).toSorted());
    expect(await open('nobody', 'old')).toEqual([]);
  });
});

describeOnEach('versions of applications', (node) => {
  const store = (database: SqlDatabase = node.database) => new SqlApplicationStore(database, seal);
  const listNumbers = async (id: string) => (await store().listVersions(id)).map(({ version }) => version);

  it('list every saved state unchanged, newest first', async () => {
    const saved = application();
    const second = { ...saved, etag: 'two', updatedAtMs: saved.updatedAtMs + 5, entry: { ...saved.entry, displayName: 'Two' } };
    expect(await store().listVersions(saved.id)).toEqual([]);
    await store().put(saved, undefined);
    await store(node.otherDatabase).put(second, { etag: 'one' });
    expect(await store().listVersions(saved.id)).toEqual([
      { version: 2, etag: 'two', savedAtMs: second.updatedAtMs },
      { version: 1, etag: 'one', savedAtMs: saved.updatedAtMs },
    ]);
    expect(await store().findVersion(saved.id, 1)).toEqual(saved);
    expect(await store().findVersion(saved.id, 2)).toEqual(second);
    for (const none of [0, -1, 3, 1.5, 2 ** 31, Number.NaN]) expect(await store().findVersion(saved.id, none)).toBeUndefined();
    expect(await store().findVersion('\0', 1)).toBeUndefined();
    expect(await store().listVersions('\0')).toEqual([]);
  });

  it('have at most 50 former versions, and at most 4 MiB in total', async () => {
    const saved = application();
    for (let nth = 1; nth <= 53; nth += 1) await store().put({ ...saved, etag: `form ${nth}` }, undefined);
    expect(await listNumbers(saved.id)).toEqual(Array.from({ length: 51 }, (_, nth) => 53 - nth));
    expect(await store().findVersion(saved.id, 2)).toBeUndefined();
    const large = { ...saved.entry, description: 'x'.repeat(1024 ** 2) };
    for (let nth = 1; nth <= 6; nth += 1) await store().put({ ...saved, etag: `large ${nth}`, entry: large }, undefined);
    expect(await listNumbers(saved.id)).toEqual([59, 58, 57]);
  });

  it('include all concurrent saves', async () => {
    const saved = application();
    const all = Array.from({ length: 12 }, (_, nth) => ({ ...saved, etag: `form ${nth}` }));
    await Promise.all(all.map((each, nth) => store([node.database, node.otherDatabase][nth % 2]).put(each, undefined)));
    const versions = await store().listVersions(saved.id);
    expect(versions.map(({ version }) => version)).toEqual(all.map((_, nth) => 12 - nth));
    expect(versions.map(({ etag }) => etag).toSorted()).toEqual(all.map(({ etag }) => etag).toSorted());
  });

  it('are deleted with the application, and are stored without readable settings', async () => {
    const saved = application();
    await store().put(saved, undefined);
    await store().put({ ...saved, etag: 'two' }, undefined);
    const expectedApplication = sql`select * from application_versions where application = ${saved.id}`;
    const rows = async () => (await node.database.run((kysely) => expectedApplication.execute(kysely))).rows;
    expect(await rows()).toHaveLength(1);
    expect(JSON.stringify(await rows())).not.toMatch(/canary|endpoint|app\.test/);
    await store().delete(saved.id, { etag: 'two' });
    expect(await rows()).toEqual([]);
    await store().put(saved, 'absent');
    expect(await listNumbers(saved.id)).toEqual([1]);
  });
});
