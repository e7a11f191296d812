import { expect, it, vi } from 'vitest';
import { startProcess } from '#test/start-process.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { createProviderEntry, startIssuer } from '../identity/support.ts';
import { chat, createUserKey, identifyWithNode, roles, sendWithCredentials } from './keys-cluster.ts';

vi.setConfig({ testTimeout: 60_000 });

it('usage and call records identify a user key by its ID, for the user and for administrators', async () => {
  await using issuer = await startIssuer();
  await using node = await startProcess({
    configuration: {
      models: { m: { upstreams: [{ protocol: 'demo' }] } },
      identityProviders: { corporate: createProviderEntry(issuer, { rolesClaim: 'roles' }) },
      keys: { operator: { project: 'operators', role: 'admin' } },
      roles,
    },
  });
  const token = await issuer.token({ sub: 'ada', roles: 'maker' });
  const created = await createUserKey(node, token);
  expect(await identifyWithNode(node, created.key)).toBe('ada');
  expect([await chat(node, created.key), await chat(node, token)]).toEqual(['200', '200']);
  const listCalls = async (credentials: string, path: string) =>
    (
      (await sendWithCredentials(node, credentials, path)).json as { data: { user: string; project: string; key?: string }[] }
    ).data.map(({ user, project, key }) => ({ user, project, key }));
  const expected = [
    { user: 'ada', project: 'corporate', key: undefined },
    { user: 'ada', project: 'corporate', key: created.id },
  ];
  await vi.waitFor(async () => expect(await listCalls(token, '/v1/user/calls')).toEqual(expected), { timeout: 10_000 });
  expect(await listCalls('operator', '/v1/admin/calls')).toEqual(expected);
  const audit = await sendWithCredentials(node, 'operator', '/v1/admin/audit?kind=key');
  expect(audit.json).toMatchObject({ data: [{ action: 'key.made', user: 'ada', object: created.id }] });
  expect(node.output.stdout + node.output.stderr).not.toContain(created.key.slice(9));
});

it('a key of a file has its last use and its expiry in the list and alone', async () => {
  const expiresAt = '2999-01-01T00:00:00Z';
  await using node = await startProcess({
    configuration: {
      models: { m: { upstreams: [{ protocol: 'demo' }] } },
      keys: {
        operator: { project: 'operators', role: 'admin' },
        robot: { project: 'robots', key: 'secret-of-the-robot', expiresAt },
      },
    },
  });
  const read = async (path: string) => (await sendWithCredentials(node, 'operator', `/v1/admin/${path}`)).json;
  expect(await read('keys/robot')).toMatchObject({ id: 'robot', expiresAt, lastUsedAt: null });
  const startedMs = Date.now();
  // A sign-in to the page, without a call of a model.
  expect((await sendWithCredentials(node, 'secret-of-the-robot', '/v1/user/info')).status).toBe(200);
  const readLastUse = async () => ((await read('keys/robot')) as { lastUsedAt: number | null }).lastUsedAt ?? 0;
  await vi.waitFor(async () => expect(await readLastUse()).toBeGreaterThanOrEqual(startedMs), { timeout: 10_000 });
  const { data } = (await read('keys')) as { data: { id: string }[] };
  for (const id of ['robot', '1']) expect(await read(`keys/${id}`)).toEqual(data.find((key) => key.id === id));
  expect(await read('keys/1')).not.toHaveProperty('lastUsedAt');
});

it('a user key remains valid after a restart', async () => {
  await using issuer = await startIssuer();
  await using folder = await openFolder();
  const configuration = { identityProviders: { corporate: createProviderEntry(issuer, { rolesClaim: 'roles' }) }, roles };
  const flags = ['--data', folder.path];
  await using before = await startProcess({ configuration, flags });
  const { key } = await createUserKey(before, await issuer.token({ sub: 'ada', roles: 'maker' }));
  before.kill('SIGTERM');
  expect((await before.ended).code).toBe(0);
  await using after = await startProcess({ configuration, flags });
  expect(await identifyWithNode(after, key)).toBe('ada');
});
