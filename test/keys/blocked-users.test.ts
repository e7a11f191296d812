import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { plainCompletion } from '#test/chunks.ts';
import { jsonReply } from '#test/scripted-upstream.ts';
import { openStream, sendRequest } from '#test/send-request.ts';
import {
  chat,
  createUserKey,
  identifyWithNode,
  type KeysCluster,
  sendWithCredentials,
  startKeysCluster,
  talkOn,
} from './keys-cluster.ts';

vi.setConfig({ testTimeout: 30_000 });

const withinSecond = { timeout: 1_000, interval: 20 };
const soon = { timeout: 5_000, interval: 50 };
const blockedCode = '403 user_blocked';
const messages = [{ role: 'user', content: 'Hello' }];
const blockPath = (user: string) => `/v1/admin/blocked-users/${encodeURIComponent(user)}`;

describe.each(['SQLite', 'PostgreSQL'] as const)('the administration of keys and blocked users, on %s', (engine) => {
  let cluster: KeysCluster;
  const getFirstNode = () => cluster.nodes[0];
  const getSecondNode = () => cluster.nodes[1];
  const createToken = (sub: string) => cluster.issuer.token({ sub, roles: 'maker' });
  const block = (user: string, options: object = {}) =>
    sendWithCredentials(getFirstNode(), 'admin-key', blockPath(user), { method: 'PUT', ...options });
  const unblock = (user: string) => sendWithCredentials(getFirstNode(), 'admin-key', blockPath(user), { method: 'DELETE' });
  const waitForIdentity = (credentials: string, expected: string) =>
    vi.waitFor(async () => expect(await identifyWithNode(getSecondNode(), credentials)).toBe(expected), withinSecond);

  beforeAll(async () => {
    cluster = await startKeysCluster(engine);
    cluster.configure({
      keys: {
        'admin-key': { project: 'office', role: 'admin' },
        'auditor-key': { project: 'audit', role: 'auditor' },
        'shop-key': { project: 'shop' },
        'plain-key': { project: 'plain' },
      },
    });
  });
  beforeEach(() => cluster.upstream.script(jsonReply(plainCompletion('Hello'))));
  afterAll(() => cluster[Symbol.asyncDispose]());

  it('lists the keys of a user without their secrets, page by page', async () => {
    const token = await createToken('ada');
    const [first, second] = [
      await createUserKey(getFirstNode(), token, { name: 'first' }),
      await createUserKey(getFirstNode(), token, { deployments: ['m'] }),
    ];
    const otherKey = await createUserKey(getFirstNode(), await createToken('bob'));
    const { status, json, headers } = await sendWithCredentials(getSecondNode(), 'admin-key', '/v1/admin/keys?user=ada');
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    const { data, nextToken } = json as { data: readonly Record<string, unknown>[]; nextToken: string | null };
    expect(nextToken).toBeNull();
    const { key: _key, ...listedKey } = first;
    expect(data.map(({ id }) => id).sort()).toEqual([first.id, second.id].sort());
    expect(data.find(({ id }) => id === first.id)).toEqual({ ...listedKey, source: 'user', user: 'ada', project: 'corporate' });
    expect(data.find(({ id }) => id === second.id)).toMatchObject({ deployments: ['m'] });
    expect(JSON.stringify(json)).not.toContain(first.key);
    const ids: unknown[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const page = (await sendWithCredentials(getFirstNode(), 'auditor-key', `/v1/admin/keys?limit=1&token=${next}`))
        .json as typeof json & {
        data: readonly { id: string }[];
        nextToken: string | null;
      };
      ids.push(...page.data.map(({ id }) => id));
      next = page.nextToken;
    }
    expect(ids.toSorted()).toEqual([first.id, second.id, otherKey.id].sort());
    expect((await sendWithCredentials(getFirstNode(), 'admin-key', '/v1/admin/keys?owner=ada')).error.message).toContain('owner');
    for (const { id } of [first, second, otherKey])
      await sendWithCredentials(getFirstNode(), 'admin-key', `/v1/admin/keys/${id}`, { method: 'DELETE' });
  });

  it('revokes the key of a user on all nodes within a second', async () => {
    const createdKey = await createUserKey(getFirstNode(), await createToken('ada'));
    await waitForIdentity(createdKey.key, 'ada');
    const path = `/v1/admin/keys/${createdKey.id}`;
    for (const key of ['auditor-key', 'plain-key']) {
      const denied = await sendWithCredentials(getFirstNode(), key, path, { method: 'DELETE' });
      expect([denied.status, denied.error.code]).toEqual([403, 'access_denied']);
    }
    expect((await sendWithCredentials(getFirstNode(), 'admin-key', path, { method: 'DELETE' })).status).toBe(204);
    await waitForIdentity(createdKey.key, '401 invalid_api_key');
    expect((await sendWithCredentials(getFirstNode(), 'admin-key', path, { method: 'DELETE' })).error.code).toBe('key_not_found');
    expect(cluster.audited).toContainEqual({ action: 'key.revoked', subject: 'key:office', object: createdKey.id });
  });

  it('rejects every credential of a blocked user on all nodes within a second, until the user is unblocked', async () => {
    const token = await createToken('ada');
    const createdKey = await createUserKey(getFirstNode(), token);
    await waitForIdentity(createdKey.key, 'ada');
    const blocked = await block('ada', { body: { reason: 'Left the company' } });
    expect([blocked.status, blocked.json]).toEqual([
      201,
      { user: 'ada', reason: 'Left the company', blockedAt: expect.any(Number), blockedBy: 'key:office' },
    ]);
    for (const credentials of [token, createdKey.key]) {
      await waitForIdentity(credentials, blockedCode);
      expect(await chat(getFirstNode(), credentials)).toBe(blockedCode);
    }
    const { error } = await sendWithCredentials(getFirstNode(), token, '/v1/user/info');
    expect(error.message).toMatch(/administrator/);
    expect(error.message).not.toContain('Left the company');
    expect(await identifyWithNode(getSecondNode(), await createToken('bob'))).toBe('bob');
    expect((await sendWithCredentials(getFirstNode(), 'auditor-key', '/v1/admin/blocked-users')).json).toEqual({
      object: 'list',
      data: [blocked.json],
      nextToken: null,
    });
    expect((await block('ada')).status).toBe(200);
    expect((await unblock('ada')).status).toBe(204);
    for (const credentials of [token, createdKey.key]) await waitForIdentity(credentials, 'ada');
    expect((await unblock('ada')).error.code).toBe('user_not_blocked');
    expect(cluster.audited.filter(({ object }) => object === 'ada')).toEqual(
      ['user.blocked', 'user.blocked', 'user.unblocked'].map((action) => ({ action, subject: 'key:office', object: 'ada' })),
    );
  });

  it('blocks the callers of a configured project', async () => {
    await block('key:shop');
    await waitForIdentity('shop-key', blockedCode);
    expect(await chat(getSecondNode(), 'plain-key')).toBe('200');
    await unblock('key:shop');
    await waitForIdentity('shop-key', 'key:shop');
  });

  it.each(['auth0|a/b', 'a:b@c.example', '100%25', 'ä ö/..', 'x?y#z'])(
    'accepts the user ID %s, percent-encoded',
    async (user) => {
      const token = await createToken(user);
      expect((await block(user)).json).toMatchObject({ user });
      await waitForIdentity(token, blockedCode);
      expect((await unblock(user)).status).toBe(204);
      await waitForIdentity(token, user);
    },
  );

  it('rejects a block by an auditor, of oneself, of an ID that cannot be stored, and with an invalid body', async () => {
    expect((await block('key:office')).error).toMatchObject({ code: 'invalid_request', param: 'user' });
    for (const key of ['auditor-key', 'plain-key'])
      for (const method of ['PUT', 'DELETE'])
        expect((await sendWithCredentials(getFirstNode(), key, blockPath('ada'), { method })).error.code).toBe('access_denied');
    expect((await sendWithCredentials(getFirstNode(), 'plain-key', '/v1/admin/blocked-users')).error.code).toBe('access_denied');
    expect((await block('a\0b')).error).toMatchObject({ code: 'invalid_request', param: 'user' });
    expect((await block('a'.repeat(1281))).error).toMatchObject({ code: 'invalid_request', param: 'user' });
    expect((await block('ada', { body: { reason: 'x'.repeat(1001) } })).error).toMatchObject({ param: 'reason' });
    expect((await block('ada', { body: { reasons: 'x' } })).error).toMatchObject({ param: 'reasons' });
  });

  it('ends streams, waiting calls, and background responses of a user who is blocked', async () => {
    const token = await createToken('ada');
    cluster.upstream.script(async (exchange) => {
      if (exchange.received.text.includes('Wait')) return new Promise(() => undefined);
      return talkOn(exchange);
    });
    const before = cluster.upstream.requests.length;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const path = '/v1/chat/completions';
    const reading = await openStream(getSecondNode().url, { path, headers, body: { model: 'm', messages, stream: true } });
    const streamResult = reading.readRest();
    const body = { model: 'm', messages: [{ role: 'user', content: 'Wait' }] };
    const waiting = sendRequest(getSecondNode().url, { path, headers, body });
    const created = await sendWithCredentials(getSecondNode(), token, '/v1/responses', {
      method: 'POST',
      body: { model: 'm', input: 'Go on', background: true },
    });
    await vi.waitFor(() => expect(cluster.upstream.requests.length).toBe(before + 3), soon);
    await block('ada');
    expect((await streamResult).error?.code).toBe('user_blocked');
    expect((await waiting).error.code).toBe('user_blocked');
    for (const request of cluster.upstream.requests.slice(before)) expect((await request.closed)?.early).toBe(true);
    await unblock('ada');
    await waitForIdentity(token, 'ada');
    const { id } = created.json as { id: string };
    const readStatus = async () =>
      ((await sendWithCredentials(getSecondNode(), token, `/v1/responses/${id}`)).json as { status: string }).status;
    await vi.waitFor(async () => expect(await readStatus()).toBe('failed'), soon);
  });

  it('rejects per-request keys of a user who is blocked', async () => {
    const token = await createToken('ada');
    let perRequestKey = '';
    cluster.upstream.script(async (exchange) => {
      perRequestKey = String(exchange.received.headers['api-key']);
      return talkOn(exchange);
    });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const reading = await openStream(getSecondNode().url, {
      path: '/v1/chat/completions',
      headers,
      body: { model: 'app', messages, stream: true },
    });
    const outer = reading.readRest();
    await vi.waitFor(() => expect(perRequestKey).not.toBe(''), soon);
    await block('ada');
    expect((await outer).error?.code).toBe('user_blocked');
    await vi.waitFor(
      async () => expect(await identifyWithNode(getSecondNode(), perRequestKey)).toMatch(/^40[13] /),
      withinSecond,
    );
    await unblock('ada');
  });
});
