import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, type UpstreamExchange } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { type AuditEvent, getChatPath, withKey } from '#test/start-service.ts';
import { type KeysCluster, sendWithCredentials, startKeysCluster } from '../keys/keys-cluster.ts';
import { getApplicationPath, getProjectBucket, quickApp } from './support.ts';

vi.setConfig({ testTimeout: 30_000 });

/** Users of the tests by the key or token that they send. */
interface Users {
  readonly owner: string;
  readonly ada: string;
  readonly bob: string;
  readonly eve: string;
}

const ownerBucket = getProjectBucket('owner');
const getId = (name: string): string => `applications/${ownerBucket}/${name}`;
const getAccessPath = (name: string): string => `/v1/access/${getId(name)}`;

describe.each(['SQLite', 'PostgreSQL'] as const)('an application that is shared with people, on %s', (engine) => {
  let cluster: KeysCluster;
  let users: Users;
  const audited: AuditEvent[] = [];

  beforeAll(async () => {
    cluster = await startKeysCluster(engine, { recordAudit: (event) => void audited.push(event) });
    cluster.configure({
      models: { demo: { upstreams: [{ protocol: 'demo' }] } },
      applications: { careful: { endpoint: `${cluster.upstream.url}/careful`, features: { consentRequired: true } } },
      keys: {
        'owner-key': { project: 'owner', roles: ['team'] },
        'scim-key': { project: 'directory', role: 'scim' },
        'admin-key': { project: 'office', role: 'admin' },
      },
    });
    const { issuer } = cluster;
    users = {
      owner: 'owner-key',
      ada: await issuer.token({
        sub: 'ada',
        name: 'Ada Lovelace',
        email: 'Ada@example.com',
        email_verified: true,
        roles: 'team',
      }),
      bob: await issuer.token({ sub: 'bob', name: 'Robert Boole', email: 'bob@example.com' }),
      eve: await issuer.token({ sub: 'eve', name: 'Adam Evans', roles: 'default' }),
    };
    for (const token of [users.ada, users.bob, users.eve]) await send(token, '/v1/user/info');
    await vi.waitFor(async () => expect((await search(users.owner, 'eve')).people).toHaveLength(1));
  });
  afterAll(() => cluster[Symbol.asyncDispose]());
  beforeEach(() => void audited.splice(0));

  const send = (credentials: string, path: string, options: object = {}, node = 0): Promise<TestResponse> =>
    sendWithCredentials(cluster.nodes[node] ?? cluster.nodes[0], credentials, path, options);
  const save = (name: string, body: object = quickApp()): Promise<TestResponse> =>
    send(users.owner, getApplicationPath(name, ownerBucket), { method: 'PUT', body });
  const share = (name: string, ids: readonly string[], roles: readonly string[] = [], headers = {}): Promise<TestResponse> =>
    send(users.owner, getAccessPath(name), { method: 'PUT', body: { roles, users: ids }, headers });
  const call = (credentials: string, id: string, node = 0): Promise<TestResponse> =>
    send(credentials, getChatPath(id), { method: 'POST', body: { messages: hello } }, node);
  const listIds = async (credentials: string, node = 0): Promise<readonly string[]> => {
    const { json } = await send(credentials, '/openai/applications', {}, node);
    return (json as { data: { id: string }[] }).data.map(({ id }) => id);
  };
  const readOwnerName = async (credentials: string, name: string): Promise<unknown> => {
    const { json } = await send(credentials, `/openai/applications/${getId(name)}`);
    return (json as { owner_name?: string }).owner_name;
  };
  const search = async (credentials: string, text: string) => {
    const { status, json } = await send(credentials, `/v1/people?search=${encodeURIComponent(text)}`);
    expect(status).toBe(200);
    const { data, roles } = json as { data: { id: string }[]; roles: string[] };
    return { people: data.map(({ id }) => id), roles };
  };

  it('is open to them alone, until the owner removes them', async () => {
    await save('notes');
    expect((await share('notes', ['ada'])).json).toMatchObject({
      roles: [],
      users: [{ id: 'ada', name: 'Ada Lovelace', address: 'Ada@example.com' }],
    });
    for (const node of [0, 1]) {
      expect((await call(users.ada, getId('notes'), node)).status).toBe(200);
      expect(await listIds(users.ada, node)).toContain(getId('notes'));
      expect(await listIds(users.bob, node)).not.toContain(getId('notes'));
    }
    const view = await send(users.ada, getApplicationPath('notes', ownerBucket));
    expect([view.status, view.text]).toEqual([200, expect.not.stringMatching(/users|instructions/)]);
    expect((await send(users.ada, getAccessPath('notes'))).status).toBe(403);
    expect(await readOwnerName(users.ada, 'notes')).toBe('owner');
    expect(await readOwnerName(users.owner, 'notes')).toBeUndefined();
    await share('notes', [], ['default', 'team']);
    expect(await readOwnerName(users.ada, 'notes')).toBeUndefined();
    await share('notes', []);
    for (const node of [0, 1]) {
      expect((await call(users.ada, getId('notes'), node)).error.code).toBe('access_denied');
      expect(await listIds(users.ada, node)).not.toContain(getId('notes'));
    }
  });

  it('looks to everyone else like an ID that does not exist', async () => {
    await save('hidden');
    await share('hidden', ['ada']);
    const answers = async (name: string): Promise<unknown> => {
      const id = getId(name);
      const responses = await Promise.all([
        call(users.bob, id),
        send(users.bob, `/v1/models/${id}`),
        send(users.bob, `/openai/models/${id}`),
        send(users.bob, `/openai/applications/${id}`),
        send(users.bob, `/v1/consent/${id}`),
        send(users.bob, `/v1/deployments/${id}/limits`),
        send(users.bob, `/v1/${id}`),
        send(users.bob, `/v1/access/${id}`),
      ]);
      return responses.map(({ status, text }) => [status, text.replaceAll(name, '<name>').replace(/"request_id":"[^"]*"/, '')]);
    };
    expect(await answers('hidden')).toEqual(await answers('absent'));
  });

  it('keeps its settings, and the change of access is in the audit log with the names', async () => {
    const saved = await save('kept', quickApp({ instructions: 'Stay.' }, { userRoles: ['team'] }));
    const shared = await share('kept', ['ada', 'bob'], ['team', 'other']);
    expect(shared.json).toMatchObject({ etag: expect.not.stringContaining((saved.json as { etag: string }).etag) });
    const { json } = await send(users.owner, getApplicationPath('kept', ownerBucket));
    expect(json).toMatchObject({ ...quickApp({ instructions: 'Stay.' }), userRoles: ['team', 'other'], users: ['ada', 'bob'] });
    await share('kept', ['bob'], ['team']);
    await share('kept', ['bob'], ['team']);
    const common = { action: 'application.shared', subject: 'key:owner', object: getId('kept'), requestId: expect.any(String) };
    expect(audited.filter(({ action }) => action === 'application.shared')).toEqual([
      { ...common, details: { addedRoles: 'team' } },
      { ...common, details: { addedUsers: 'ada, bob', addedRoles: 'other' } },
      { ...common, details: { removedUsers: 'ada', removedRoles: 'other' } },
    ]);
  });

  it('is not shared with an unknown user, and the error names the next step', async () => {
    await save('typo');
    const refused = await share('typo', ['ada', 'adda']);
    expect([refused.status, refused.error.param]).toEqual([400, 'users[1]']);
    expect(refused.error.message).toMatch(/"adda", a user that Parley does not know\. Ask the person to sign in once/);
    const saved = await save('typo', quickApp({}, { users: ['adda'] }));
    expect([saved.status, saved.error.param]).toEqual([400, 'users[0]']);
    const manyNames = Array.from({ length: 101 }, (_, index) => `name-${index}`);
    expect((await share('typo', manyNames)).error.param).toBe('users');
    expect((await share('typo', [], manyNames)).error.param).toBe('roles');
    expect((await send(users.owner, getAccessPath('typo'))).json).toMatchObject({ users: [] });
    expect((await share('typo', [], [], { 'if-match': '"old"' })).status).toBe(412);
    expect((await share('never', ['ada'])).status).toBe(404);
  });

  it('stays shared with the same people when a version is restored, and a copy is not shared', async () => {
    await save('first', quickApp({ instructions: 'One.' }, { users: ['ada'] }));
    await save('first', quickApp({ instructions: 'Two.' }, { users: ['bob'] }));
    const restored = await send(users.owner, `/v1/versions/${getId('first')}?version=1`, { method: 'POST' });
    expect(restored.json).toMatchObject({ ...quickApp({ instructions: 'One.' }), users: ['bob'] });
    const copy = { sourceUrl: getId('first'), destinationUrl: getId('second') };
    expect((await send(users.owner, '/v1/ops/resource/copy', { method: 'POST', body: copy })).status).toBe(200);
    expect((await call(users.bob, getId('second'))).status).toBe(403);
    const move = { sourceUrl: getId('first'), destinationUrl: getId('third') };
    expect((await send(users.owner, '/v1/ops/resource/move', { method: 'POST', body: move })).status).toBe(200);
    expect(await listIds(users.bob)).toContain(getId('third'));
  });

  it('can be called by other applications of its owner, and not by those of another user', async () => {
    const { upstream } = cluster;
    await save('inner');
    await save('outer', { endpoint: `${upstream.url}/outer` });
    await share('inner', ['ada']);
    await share('outer', ['ada']);
    const eveBucket = ((await send(users.eve, '/v1/bucket')).json as { bucket: string }).bucket;
    const foreign = `applications/${eveBucket}/foreign`;
    const body = { endpoint: `${upstream.url}/foreign`, userRoles: ['team'] };
    expect((await send(users.eve, `/v1/${foreign}`, { method: 'PUT', body })).status).toBe(201);
    const statuses: number[] = [];
    upstream.script(async (exchange: UpstreamExchange) => {
      const headers = withKey(String(exchange.received.headers['api-key']));
      for (const name of ['inner', 'absent'])
        statuses.push(
          (await cluster.nodes[0].sendRequest({ path: getChatPath(getId(name)), headers, body: { messages: hello } })).status,
        );
      await jsonReply(plainCompletion('done'))(exchange);
    });
    expect((await call(users.ada, getId('outer'))).status).toBe(200);
    expect((await call(users.ada, foreign)).status).toBe(200);
    expect(statuses).toEqual([200, 403, 403, 403]);
  });

  it('appears in a consent form only for callers who may use it', async () => {
    await save('member');
    await save(
      'group',
      quickApp({}, { dependencies: ['careful', getId('member'), getId('absent')], userRoles: ['team', 'default'] }),
    );
    await share('member', ['ada']);
    const getForm = async (credentials: string) =>
      Object.keys(((await send(credentials, `/v1/consent/${getId('group')}`)).json as { consent: object }).consent);
    expect(await getForm(users.ada)).toContain(getId('member'));
    expect(await getForm(users.bob)).toEqual([getId('group'), 'careful', 'demo']);
  });

  it('is in the list of administrators with the names', async () => {
    await save('listed', quickApp({}, { displayName: 'Listed' }));
    await share('listed', ['bob'], ['team']);
    const list = async (query: string) => {
      const { status, json } = await send('admin-key', `/v1/admin/shared-applications${query}`);
      expect(status).toBe(200);
      return json as { data: { id: string }[]; nextToken: string | null };
    };
    expect((await list('?user=bob')).data).toContainEqual({
      ...{ id: getId('listed'), displayName: 'Listed', owner: { id: 'key:owner', name: 'owner' } },
      ...{ roles: ['team'], users: [{ id: 'bob', name: 'Robert Boole' }], updatedAt: expect.any(Number) },
    });
    const all = (await list('')).data.map(({ id }) => id);
    const first = await list('?limit=1');
    const rest = await list(`?limit=500&token=${first.nextToken}`);
    expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(all);
    expect(new Set(all).size).toBe(all.length);
    expect((await list('?user=nobody')).data).toEqual([]);
  });
});

describe.each(['SQLite', 'PostgreSQL'] as const)('the search for people, on %s', (engine) => {
  let cluster: KeysCluster;
  const tokens = new Map<string, string>();

  beforeAll(async () => {
    cluster = await startKeysCluster(engine);
    cluster.configure({
      keys: {
        'desk-key': { project: 'desk', roles: ['team', 'default'] },
        'shop-key': { project: 'shop', role: 'default', name: 'Anna Ärlig' },
        till: { project: 'shop', role: 'default', key: 'till-secret' },
        'scim-key': { project: 'directory', role: 'scim' },
      },
      roles: { team: {}, 'board%': {} },
    });
    const people = {
      ada: { name: 'Ada Ångström', email: 'ada@example.com', email_verified: true, roles: 'team' },
      carl: { name: 'Carl Adams', email: 'carl@example.com', email_verified: false, roles: 'default' },
      dora: { name: 'Dora_100%', roles: 'team only-in-tokens' },
    };
    for (const [sub, claims] of Object.entries(people)) {
      const token = await cluster.issuer.token({ sub, ...claims });
      tokens.set(sub, token);
      // A write that fails is repeated with the next request.
      await vi.waitFor(async () => {
        await sendWithCredentials(cluster.nodes[0], token, '/v1/user/info');
        expect((await search('desk-key', sub)).people).toEqual([sub]);
      });
    }
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  const search = async (credentials: string, text?: string) => {
    const query = text === undefined ? '' : `?search=${encodeURIComponent(text)}`;
    const { status, json } = await sendWithCredentials(cluster.nodes[1], credentials, `/v1/people${query}`);
    expect(status).toBe(200);
    const { data, roles } = json as { data: { id: string }[]; roles: string[] };
    return { people: data.map(({ id }) => id), roles };
  };

  it('finds people by the start of a name only if they share a role other than default', async () => {
    expect((await search('desk-key', 'ad')).people).toEqual(['ada']);
    expect((await search('desk-key', 'ANG')).people).toEqual(['ada']);
    expect((await search('desk-key', 'Carl')).people).toEqual([]);
    expect((await search(tokens.get('ada') ?? '', 'des')).people).toEqual(['key:desk']);
    expect((await search('shop-key', 'ad')).people).toEqual([]);
    expect((await search(tokens.get('ada') ?? '', 'Ada')).people).toEqual([]);
  });

  it('finds everyone by the exact ID or the verified address', async () => {
    for (const text of ['ada', ' ADA@example.com ']) expect((await search('shop-key', text)).people).toEqual(['ada']);
    expect((await search('shop-key', 'desk')).people).toEqual(['key:desk']);
    expect((await search('shop-key', 'key:desk')).people).toEqual(['key:desk']);
    for (const text of ['anna arlig', 'Till']) expect((await search('desk-key', text)).people).toEqual(['key:shop']);
    for (const text of ['shop-key', 'till-secret', 'Anna', '\u0301']) expect((await search('desk-key', text)).people).toEqual([]);
    expect((await search('shop-key', 'carl@example.com')).people).toEqual([]);
    expect((await search('shop-key', 'carl')).people).toEqual(['carl']);
  });

  it('never lists all people', async () => {
    for (const text of [undefined, '', ' ', 'a', '%', '_', '*']) expect((await search('desk-key', text)).people).toEqual([]);
    expect((await search('desk-key', 'dora_1')).people).toEqual(['dora']);
    expect((await search('desk-key', 'dora%')).people).toEqual([]);
  });

  it('finds roles of the caller by their start, and all roles by the exact name', async () => {
    expect((await search('desk-key')).roles).toEqual(['team', 'default']);
    expect((await search('desk-key', 'te')).roles).toEqual(['team']);
    expect((await search('shop-key', 'te')).roles).toEqual([]);
    for (const role of ['team', 'board%', 'only-in-tokens']) expect((await search('shop-key', role)).roles).toEqual([role]);
    expect((await search('shop-key', 'board')).roles).toEqual([]);
  });

  it('finds a provisioned user who has not signed in', async () => {
    const body = { userName: 'grace@example.com', displayName: 'Grace Hopper', active: true };
    const headers = { 'content-type': 'application/scim+json' };
    const created = await sendWithCredentials(cluster.nodes[0], 'scim-key', '/scim/v2/Users', { method: 'POST', body, headers });
    expect(created.status).toBe(201);
    expect((await search('shop-key', 'Grace@example.com')).people).toEqual(['grace@example.com']);
    expect((await search('desk-key', 'Grace')).people).toEqual([]);
    const path = `/v1/applications/${getProjectBucket('desk')}/for-grace`;
    const application = { endpoint: `${cluster.upstream.url}/app`, users: ['grace@example.com'] };
    expect((await sendWithCredentials(cluster.nodes[0], 'desk-key', path, { method: 'PUT', body: application })).status).toBe(
      201,
    );
    const token = await cluster.issuer.token({ sub: 'grace@example.com' });
    expect((await sendWithCredentials(cluster.nodes[1], token, path)).status).toBe(200);
  });

  it('rejects a text that is too long or repeated', async () => {
    for (const query of [`?search=${'a'.repeat(201)}`, '?search=a&search=b']) {
      const { status, error } = await sendWithCredentials(cluster.nodes[0], 'desk-key', `/v1/people${query}`);
      expect([status, error.param]).toEqual([400, 'search']);
    }
  });
});
