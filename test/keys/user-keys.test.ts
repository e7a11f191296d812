import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { plainCompletion } from '#test/chunks.ts';
import { callerKey } from '#test/start-service.ts';
import { createProviderEntry } from '../identity/support.ts';
import {
  type CreatedKey,
  chat,
  createUserKey,
  identifyWithNode,
  type KeysCluster,
  sendWithCredentials,
  startKeysCluster,
} from './keys-cluster.ts';

vi.setConfig({ testTimeout: 30_000 });

const dayMs = 24 * 60 * 60 * 1000;
/** Nodes apply a change within a second, but slow machines need more time. */
const soon = { timeout: 5_000, interval: 20 };

describe.each(['SQLite', 'PostgreSQL'] as const)('a user key, on %s', (engine) => {
  let cluster: KeysCluster;
  let count = 0;
  let user: string;
  let token: string;
  const signIn = (roles: string | readonly string[] = 'maker', claims: object = {}) =>
    cluster.issuer.token({ sub: user, roles, ...claims });
  const listKeys = async (credentials: string): Promise<CreatedKey[]> =>
    ((await sendWithCredentials(cluster.nodes[0], credentials, '/v1/user/keys')).json as { data: CreatedKey[] }).data;
  const post = (credentials: string, body: object, path = '/v1/user/keys') =>
    sendWithCredentials(cluster.nodes[0], credentials, path, { method: 'POST', body });

  beforeAll(async () => {
    cluster = await startKeysCluster(engine);
    cluster.upstream.script(({ response }) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(plainCompletion('hi')));
    });
  });
  beforeEach(async () => {
    cluster.configure();
    user = `user-${++count}`;
    token = await signIn();
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it('is returned once, acts as the user on every node, and is stored only as a digest', async () => {
    const [firstNode, secondNode] = cluster.nodes;
    const created = await createUserKey(firstNode, token, { name: 'Notebook', days: 7 });
    expect(created).toMatchObject({ name: 'Notebook', lastUsedAt: null, prefix: created.key.slice(0, created.prefix.length) });
    expect(created.expiresAt - created.createdAt).toBe(7 * dayMs);
    expect(created.key).not.toContain(created.id);
    expect(created.prefix.length).toBeLessThan(20);
    expect(await identifyWithNode(firstNode, created.key)).toBe(user);
    await vi.waitFor(async () => expect(await identifyWithNode(secondNode, created.key)).toBe(user), soon);
    const info = await sendWithCredentials(secondNode, created.key, '/v1/user/info');
    expect(info.json).toMatchObject({ user, project: 'corporate', roles: ['maker'] });
    expect(await chat(secondNode, created.key)).toBe('200');
    const { key, ...listedKey } = created;
    expect(await listKeys(token)).toEqual([listedKey]);
    const rows = await cluster.database.run((kysely) => kysely.selectFrom('api_keys').selectAll().execute());
    expect(JSON.stringify(rows)).not.toContain(key.slice(9));
  });

  it('records the time of its last use', async () => {
    const created = await createUserKey(cluster.nodes[0], token);
    expect(await identifyWithNode(cluster.nodes[0], created.key)).toBe(user);
    await vi.waitFor(async () => expect((await listKeys(token))[0]?.lastUsedAt).toBeGreaterThan(created.createdAt - 1), 8_000);
  });

  it('can be created only by signed-in users whose role allows it, and the error names the remedy', async () => {
    const created = await createUserKey(cluster.nodes[0], token);
    const getRejection = async (credentials: string) => {
      const { status, error } = await post(credentials, {});
      return [status, error.code, error.message];
    };
    expect(await getRejection(callerKey)).toEqual([
      403,
      'access_denied',
      expect.stringContaining('sign in with an identity provider'),
    ]);
    expect(await getRejection(created.key)).toEqual([
      403,
      'access_denied',
      expect.stringContaining('Sign in, and send your token'),
    ]);
    expect((await sendWithCredentials(cluster.nodes[0], created.key, '/v1/user/keys')).status).toBe(403);
    // From here on, the key has the roles of this token.
    expect(await getRejection(await signIn('plain'))).toEqual([403, 'access_denied', expect.stringContaining('selfService')]);
    expect(await listKeys(token)).toHaveLength(1);
  });

  it('is offered in the user info only to users who can create keys', async () => {
    const readSelfService = async (credentials: string) =>
      ((await sendWithCredentials(cluster.nodes[0], credentials, '/v1/user/info')).json as { selfService?: object }).selfService;
    expect(await readSelfService(token)).toEqual({ keys: 3, maxDays: 30 });
    expect(await readSelfService(await signIn('plain'))).toBeUndefined();
    expect(await readSelfService(callerKey)).toBeUndefined();
    expect(await readSelfService((await createUserKey(cluster.nodes[0], token)).key)).toBeUndefined();
  });

  it('counts toward the number that the most generous role allows', async () => {
    const [firstNode] = cluster.nodes;
    cluster.configure({
      roles: { maker: { selfService: { keys: 1, maxDays: 90 } }, more: { selfService: { keys: 2, maxDays: 1 } } },
    });
    const bothRoles = await signIn(['maker', 'more']);
    const [first] = [await createUserKey(firstNode, bothRoles, { days: 90 }), await createUserKey(firstNode, bothRoles)];
    const rejected = await post(bothRoles, {});
    expect([rejected.status, rejected.error.code]).toEqual([409, 'too_many_keys']);
    expect(rejected.error.message).toContain('at most 2 keys');
    expect((await sendWithCredentials(firstNode, bothRoles, `/v1/user/keys/${first.id}`, { method: 'DELETE' })).status).toBe(204);
    await createUserKey(firstNode, bothRoles);
  });

  it('never exceeds that number if requests arrive concurrently on two nodes', async () => {
    const requests = Array.from({ length: 8 }, (_, index) =>
      sendWithCredentials(cluster.nodes[index % 2] as { url: string }, token, '/v1/user/keys', { method: 'POST', body: {} }),
    );
    const statuses = (await Promise.all(requests)).map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 201, 201, 409, 409, 409, 409, 409]);
  });

  it.each([
    [{ days: 31 }, 'days'],
    [{ expiresAt: 1 }, 'expiresAt'],
    [{ expiresAt: 9e15 }, 'expiresAt'],
    [{ expiresAt: 9e15, days: 1 }, 'days'],
    [{ name: '' }, 'name'],
    [{ name: 'a\nb' }, 'name'],
    [{ deployments: ['m', '../x'] }, 'deployments[1]'],
    [{ allowedIps: ['10.0.0.1', 'home'] }, 'allowedIps[1]'],
    [{ colour: 'red' }, 'colour'],
  ])('is rejected with the path of the error for the input %j', async (body, param) => {
    const { status, error } = await post(token, body);
    expect([status, error.param]).toEqual([400, param]);
  });

  it('expires at the requested time, or by default after the maximum of the role', async () => {
    const [firstNode] = cluster.nodes;
    const created = await createUserKey(firstNode, token);
    expect(created.expiresAt - created.createdAt).toBe(30 * dayMs);
    const expiresAt = cluster.clock.epochMs() + 60_000;
    const short = await createUserKey(firstNode, token, { expiresAt });
    expect(short.expiresAt).toBe(expiresAt);
    expect(await identifyWithNode(firstNode, short.key)).toBe(user);
    cluster.clock.moveCalendar(60_001);
    for (const node of cluster.nodes) expect(await identifyWithNode(node, short.key)).toBe('401 invalid_api_key');
    expect(await identifyWithNode(firstNode, created.key)).toBe(user);
  });

  it('does not count after it has expired', async () => {
    const expiresAt = cluster.clock.epochMs() + 60_000;
    for (let index = 0; index < 3; index += 1) await createUserKey(cluster.nodes[0], token, { expiresAt });
    cluster.clock.moveCalendar(60_001);
    expect(await listKeys(token)).toHaveLength(3);
    await createUserKey(cluster.nodes[0], await signIn());
    expect(await listKeys(token)).toHaveLength(1);
  });

  it('is rejected on every node after its owner deletes it, and other users cannot delete it', async () => {
    const [firstNode, secondNode] = cluster.nodes;
    const created = await createUserKey(firstNode, token);
    await vi.waitFor(async () => expect(await identifyWithNode(secondNode, created.key)).toBe(user), soon);
    const path = `/v1/user/keys/${created.id}`;
    const stranger = await cluster.issuer.token({ sub: 'stranger', roles: 'maker' });
    const rejected = await sendWithCredentials(firstNode, stranger, path, { method: 'DELETE' });
    expect([rejected.status, rejected.error.code]).toEqual([404, 'key_not_found']);
    expect((await sendWithCredentials(firstNode, token, path, { method: 'DELETE' })).status).toBe(204);
    expect(await identifyWithNode(firstNode, created.key)).toBe('401 invalid_api_key');
    await vi.waitFor(async () => expect(await identifyWithNode(secondNode, created.key)).toBe('401 invalid_api_key'), soon);
    expect((await sendWithCredentials(firstNode, token, path, { method: 'DELETE' })).status).toBe(404);
    expect(await listKeys(token)).toEqual([]);
  });

  it('keeps its ID when it is rotated, and the old secret works for the requested overlap', async () => {
    const [firstNode, secondNode] = cluster.nodes;
    const first = await createUserKey(firstNode, token, { name: 'Robot' });
    const path = `/v1/user/keys/${first.id}/rotate`;
    const next = (await post(token, { overlapSeconds: 100 }, path)).json as CreatedKey;
    expect(next).toMatchObject({ id: first.id, name: 'Robot', expiresAt: first.expiresAt });
    for (const { key } of [first, next])
      await vi.waitFor(async () => expect(await identifyWithNode(secondNode, key)).toBe(user), soon);
    cluster.clock.moveCalendar(100_001);
    expect(await identifyWithNode(secondNode, first.key)).toBe('401 invalid_api_key');
    expect(await identifyWithNode(secondNode, next.key)).toBe(user);
    const third = (await post(token, {}, path)).json as CreatedKey;
    expect(await identifyWithNode(firstNode, next.key)).toBe('401 invalid_api_key');
    expect(await identifyWithNode(firstNode, third.key)).toBe(user);
    expect(await listKeys(token)).toHaveLength(1);
    expect((await post(token, { overlapSeconds: -1 }, path)).error.param).toBe('overlapSeconds');
    expect((await post(token, {}, '/v1/user/keys/none/rotate')).error.code).toBe('key_not_found');
  });

  it('calls only the deployments that both the key and its user may use', async () => {
    const [firstNode] = cluster.nodes;
    const bound = await createUserKey(firstNode, token, { deployments: ['m'] });
    expect([await chat(firstNode, bound.key), await chat(firstNode, bound.key, 'other')]).toEqual(['200', '403 access_denied']);
    const list = (await sendWithCredentials(firstNode, bound.key, '/v1/models')).json as { data: { id: string }[] };
    expect(list.data.map(({ id }) => id)).toEqual(['m']);
    const empty = await createUserKey(firstNode, token, { deployments: [] });
    expect(await chat(firstNode, empty.key)).toBe('403 access_denied');
    const unbound = await createUserKey(firstNode, token);
    cluster.configure({ models: { m: { upstreams: [{ protocol: 'demo' }], userRoles: ['staff'] } } });
    expect([await chat(firstNode, bound.key), await chat(firstNode, unbound.key)]).toEqual([
      '403 access_denied',
      '403 access_denied',
    ]);
  });

  it('cannot use consent and key routes if it is bound to deployments', async () => {
    const [firstNode] = cluster.nodes;
    const { key } = await createUserKey(firstNode, token, { deployments: ['m'] });
    const paths = ['/v1/consent/app', '/v1/user/keys'];
    for (const path of paths) expect([path, (await sendWithCredentials(firstNode, key, path)).status]).toEqual([path, 403]);
    const unbound = await createUserKey(firstNode, token);
    expect((await sendWithCredentials(firstNode, unbound.key, '/v1/consent/app')).status).toBe(200);
  });

  it('is accepted only from its addresses, including those that a trusted proxy reports', async () => {
    const [firstNode] = cluster.nodes;
    const home = await createUserKey(firstNode, token, { allowedIps: ['127.0.0.1'] });
    const away = await createUserKey(firstNode, token, { allowedIps: ['192.0.2.0/24', '2001:db8::/32'] });
    const blocked = await createUserKey(firstNode, token, { allowedIps: [] });
    const getIdentity = (key: string, forwarded?: string) =>
      identifyWithNode(firstNode, key, forwarded === undefined ? {} : { 'x-forwarded-for': forwarded });
    expect([await getIdentity(home.key), await getIdentity(away.key), await getIdentity(blocked.key)]).toEqual([
      user,
      '403 address_not_allowed',
      '403 address_not_allowed',
    ]);
    expect(await getIdentity(away.key, '192.0.2.7')).toBe('403 address_not_allowed');
    expect(await chat(firstNode, away.key)).toBe('403 address_not_allowed');
    expect(cluster.audited.at(-1)?.action).toBe('credentials.refused');
    cluster.configure({ security: { trustedProxies: ['127.0.0.1'] } });
    expect(await getIdentity(away.key, '192.0.2.7')).toBe(user);
    expect(await getIdentity(away.key, '2001:db8::7')).toBe(user);
    expect(await getIdentity(away.key, '192.0.3.7')).toBe('403 address_not_allowed');
    expect(await getIdentity(home.key, '192.0.2.7')).toBe('403 address_not_allowed');
  });

  it('has the roles of the newest token of its user, in any order of requests', async () => {
    const [firstNode, secondNode] = cluster.nodes;
    const created = await createUserKey(firstNode, token);
    const readRoles = async (node: { url: string }) =>
      ((await sendWithCredentials(node, created.key, '/v1/user/info')).json as { roles: string[] }).roles;
    const later = Math.floor(cluster.clock.epochMs() / 1000);
    cluster.clock.advance(5_000);
    const newer = await signIn(['maker', 'staff'], { iat: later + 4 });
    expect(await identifyWithNode(secondNode, newer)).toBe(user);
    for (const node of cluster.nodes)
      await vi.waitFor(async () => expect(await readRoles(node)).toEqual(['maker', 'staff']), soon);
    expect(await identifyWithNode(firstNode, token)).toBe(user);
    expect(await identifyWithNode(firstNode, await signIn('maker', { iat: later - 1 }))).toBe(user);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await readRoles(firstNode)).toEqual(['maker', 'staff']);
  });

  it('has the roles of a later token that was issued in the same second', async () => {
    const created = await createUserKey(cluster.nodes[0], token);
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { iat: number };
    expect(await identifyWithNode(cluster.nodes[0], await signIn('plain', { iat: claims.iat }))).toBe(user);
    await vi.waitFor(async () => expect(await identifyWithNode(cluster.nodes[0], created.key)).toBe('401 invalid_api_key'), soon);
  });

  it('shares the limits and the files of its user', async () => {
    const limits = { m: { requestDay: 2 } };
    cluster.configure({ roles: { maker: { limits, selfService: { keys: 1, maxDays: 1 } } } });
    const { key } = await createUserKey(cluster.nodes[0], token);
    const outcomes = [
      await chat(cluster.nodes[0], token),
      await chat(cluster.nodes[0], key),
      await chat(cluster.nodes[0], token),
    ];
    expect(outcomes).toEqual(['200', '200', '429 request_limit_exceeded']);
    expect(await chat(cluster.nodes[0], key)).toBe('429 request_limit_exceeded');
    const readBucket = async (credentials: string) =>
      (await sendWithCredentials(cluster.nodes[0], credentials, '/v1/bucket')).text;
    expect(await readBucket(key)).toBe(await readBucket(token));
  });

  it('works for a user whose project comes from a claim, until the provider is removed', async () => {
    const provider = createProviderEntry(cluster.issuer, { rolesClaim: 'roles', projectClaim: 'team' });
    cluster.configure({ identityProviders: { corporate: provider } });
    const member = await cluster.issuer.token({ sub: 'team-member', roles: 'maker', team: 'search' });
    const { key, id } = await createUserKey(cluster.nodes[0], member);
    expect(await chat(cluster.nodes[0], key)).toBe('200');
    cluster.configure({ identityProviders: {} });
    expect(await chat(cluster.nodes[0], key)).toBe('401 invalid_api_key');
    cluster.configure({ identityProviders: { corporate: provider } });
    await sendWithCredentials(cluster.nodes[0], member, `/v1/user/keys/${id}`, { method: 'DELETE' });
    cluster.configure();
  });

  it('is rejected while its user has no right to keys, and works again afterwards', async () => {
    const [firstNode, secondNode] = cluster.nodes;
    const created = await createUserKey(firstNode, token);
    const otherKey = await createUserKey(firstNode, token);
    await vi.waitFor(async () => expect(await identifyWithNode(secondNode, created.key)).toBe(user), soon);
    cluster.configure({ roles: { maker: {}, plain: { selfService: { keys: 1, maxDays: 1 } } } });
    for (const node of cluster.nodes) expect(await identifyWithNode(node, created.key)).toBe('401 invalid_api_key');
    cluster.configure({ roles: { maker: {}, plain: {} } });
    for (const node of cluster.nodes) expect(await identifyWithNode(node, created.key)).toBe('401 invalid_api_key');
    // Users who lost the right can still list and delete their keys.
    const otherPath = `/v1/user/keys/${otherKey.id}`;
    expect((await listKeys(token)).map(({ id }) => id)).toContain(otherKey.id);
    expect((await post(token, {}, `${otherPath}/rotate`)).status).toBe(403);
    expect((await sendWithCredentials(firstNode, token, otherPath, { method: 'DELETE' })).status).toBe(204);
    cluster.configure();
    for (const node of cluster.nodes) expect(await identifyWithNode(node, created.key)).toBe(user);
    expect(await identifyWithNode(firstNode, otherKey.key)).toBe('401 invalid_api_key');
    cluster.clock.advance(2_000);
    const seconds = Math.floor(cluster.clock.epochMs() / 1000);
    expect(await identifyWithNode(firstNode, await signIn('plain', { iat: seconds }))).toBe(user);
    for (const node of cluster.nodes)
      await vi.waitFor(async () => expect(await identifyWithNode(node, created.key)).toBe('401 invalid_api_key'), soon);
    cluster.clock.advance(2_000);
    expect(await identifyWithNode(secondNode, await signIn('maker', { iat: seconds + 2 }))).toBe(user);
    for (const node of cluster.nodes)
      await vi.waitFor(async () => expect(await identifyWithNode(node, created.key)).toBe(user), soon);
    cluster.configure({ identityProviders: {} });
    expect(await identifyWithNode(firstNode, created.key)).toBe('401 invalid_api_key');
  });

  it('is allowed by the default role only for users whose roles are not configured', async () => {
    cluster.configure({ roles: { default: { selfService: { keys: 1, maxDays: 1 } }, plain: {} } });
    const created = await createUserKey(cluster.nodes[0], await signIn('unheard-of'));
    expect(await identifyWithNode(cluster.nodes[0], created.key)).toBe(user);
    expect((await post(await signIn('plain'), {})).status).toBe(403);
  });

  it('is recorded in the audit log when it is created, rotated, and deleted', async () => {
    const created = await createUserKey(cluster.nodes[0], token);
    await post(token, {}, `/v1/user/keys/${created.id}/rotate`);
    await sendWithCredentials(cluster.nodes[0], token, `/v1/user/keys/${created.id}`, { method: 'DELETE' });
    const records = cluster.audited.filter(({ object }) => object === created.id);
    expect(records.map(({ action, subject }) => [action, subject])).toEqual([
      ['key.made', user],
      ['key.rotated', user],
      ['key.deleted', user],
    ]);
  });
});
