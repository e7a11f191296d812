import { hash, randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { Seal } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import type { StoredKey } from '#domain/callers/key-store.ts';
import type { StoredApplication } from '#domain/deployments/application-store.ts';
import { SqlApplicationStore } from '#stores/sql/applications/application-store.ts';
import { SqlKeyStore } from '#stores/sql/callers/key-store.ts';
import { SqlConsentStore } from '#stores/sql/consents/consent-store.ts';
import { SqlEvaluationStore } from '#stores/sql/evaluations/evaluation-store.ts';
import { describeOnEach } from '#test/sql-engines.ts';

const seal = new Seal([new Secret('the secret of the test')]);

/** Collects the entries that a store reports as invalid. */
function collect() {
  const reported: string[] = [];
  return { noted: reported, note: (kind: string, id: string) => void reported.push(`${kind} ${id}`) };
}

const createKey = (id: string, owner: string): StoredKey => ({
  ...{ id, owner, project: 'p', roles: ['default'], signedInAtMs: 1, name: id, prefix: 'parley', version: 1, former: null },
  ...{ digest: hash('sha256', id), deployments: null, allowedIps: null, createdAtMs: 1, expiresAtMs: 9e15, lastUsedAtMs: null },
});

describeOnEach('invalid stored entry', (node) => {
  it.each([
    ['is not JSON', '{'],
    ['is not a form', JSON.stringify([['app', { consentRequired: 'yes' }]])],
  ])('does not grant consent if it %s', async (_what, form) => {
    const { noted: reported, note } = collect();
    const store = new SqlConsentStore(node.database, note);
    const subject = randomUUID();
    for (const deployment of ['bad', 'good'])
      await store.put(subject, { deployment, form: { app: { consentRequired: true } }, acceptedAtMs: 1 });
    await node.database.run((kysely) =>
      kysely.updateTable('consents').set({ form }).where('subject', '=', subject).where('deployment', '=', 'bad').execute(),
    );
    expect(await store.find(subject, 'bad')).toBeUndefined();
    expect((await store.list(subject)).map(({ deployment }) => deployment)).toEqual(['good']);
    expect(reported).toEqual(['consent bad', 'consent bad']);
  });

  it.each<[string, object]>([
    ['roles', { roles: '{"a":1}' }],
    ['deployments', { deployments: '"all"' }],
    ['allowed addresses', { allowed_ips: '[' }],
    ['digest', { digest: 'x' }],
  ])('does not work as a key with invalid %s', async (_what, fields) => {
    const { noted: reported, note } = collect();
    const store = new SqlKeyStore(node.database, note);
    const [owner, bad, good] = [randomUUID(), randomUUID(), randomUUID()];
    for (const id of [bad, good]) await store.add(createKey(id, owner), 10);
    await node.database.run((kysely) => kysely.updateTable('api_keys').set(fields).where('id', '=', bad).execute());
    expect((await store.list(owner)).map(({ id }) => id)).toEqual([good]);
    const { keys, deleted } = await store.readUpdates(0);
    expect([keys.some(({ id }) => id === good), keys.some(({ id }) => id === bad), deleted.includes(bad)]).toEqual([
      true,
      false,
      true,
    ]);
    expect(reported).toContain(`key ${bad}`);
    await node.database.run((kysely) => kysely.deleteFrom('api_keys').where('id', '=', bad).execute());
  });

  it.each<[string, string]>([
    ['is not JSON', '{'],
    ['has no input', '{"checks":[]}'],
    ['has an unknown check', '{"input":"a","checks":[{"type":"magic"}]}'],
    ['is too large', JSON.stringify({ input: 'a', checks: Array.from({ length: 5000 }, () => ({ type: 'equals', text: 'a' })) })],
  ])('is not an evaluation case if it %s', async (_what, entry) => {
    const { noted: reported, note } = collect();
    const { cases } = new SqlEvaluationStore(node.database, seal, note);
    const application = randomUUID();
    const saved = { id: application, owner: 'user', entry: {}, etag: 'a', createdAtMs: 0, updatedAtMs: 0 };
    await new SqlApplicationStore(node.database, seal).put(saved as StoredApplication, undefined);
    const row = (id: string, version: number, json: string) => ({
      ...{ id, application, version, sealed_entry: seal.seal(json, id), created_at_ms: 1, updated_at_ms: 1 },
    });
    const [bad, good] = [randomUUID(), randomUUID()];
    const rows = [row(bad, 1, entry), row(good, 2, '{"input":"a","checks":[]}')];
    await node.database.run((kysely) => kysely.insertInto('evaluation_cases').values(rows).execute());
    expect((await cases.list(application)).map(({ id }) => id)).toEqual([good]);
    expect(await cases.find(bad)).toBeUndefined();
    expect(reported).toEqual([`evaluation case ${bad}`, `evaluation case ${bad}`]);
  });
});
