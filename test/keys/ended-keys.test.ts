import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openStream, sendRequest } from '#test/send-request.ts';
import { createKeyStores } from '#test/sql-stores.ts';
import { startService, type TestService } from '#test/start-service.ts';
import { createStoreError } from '#test/store-error.ts';
import { quickApp } from '../applications/support.ts';
import { createProviderEntry } from '../identity/support.ts';
import {
  type CreatedKey,
  createUserKey,
  identifyWithNode,
  type KeysCluster,
  sendWithCredentials,
  startKeysCluster,
  talkOn,
} from './keys-cluster.ts';

vi.setConfig({ testTimeout: 30_000 });

/** Time within which calls of an ended key end. */
const soon = { timeout: 5_000, interval: 50 };
const messages = [{ role: 'user', content: 'Hello' }];

describe.each(['SQLite', 'PostgreSQL'] as const)('a key that ends during a call, on %s', (engine) => {
  let cluster: KeysCluster;
  let token: string;
  const stream = (created: CreatedKey, node: { url: string } = cluster.nodes[1], model = 'm') =>
    openStream(node.url, {
      path: '/v1/chat/completions',
      headers: { 'api-key': created.key, 'content-type': 'application/json' },
      body: { model, messages, stream: true },
    });
  const remove = (created: CreatedKey) =>
    sendWithCredentials(cluster.nodes[0], token, `/v1/user/keys/${created.id}`, { method: 'DELETE' });
  const waitUntilKnown = async (created: CreatedKey) =>
    void (await vi.waitFor(async () => expect(await identifyWithNode(cluster.nodes[1], created.key)).toBe('ada'), soon));
  const waitForRequest = async (from: number) => {
    await vi.waitFor(() => expect(cluster.upstream.requests.length).toBeGreaterThan(from), soon);
    return cluster.upstream.requests[from];
  };

  beforeAll(async () => {
    cluster = await startKeysCluster(engine);
    token = await cluster.issuer.token({ sub: 'ada', roles: 'maker' });
    cluster.upstream.script(talkOn);
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it.each([
    ['the user deletes it', async (created: CreatedKey) => void (await remove(created))],
    ['the user rotates it', async (created: CreatedKey) => void (await rotate(created))],
    ['it expires', async () => void cluster.clock.moveCalendar(120_001)],
    ['the roles of its user no longer allow keys', async () => cluster.configure({ roles: { maker: {} } })],
  ])('ends its stream with an error event and disconnects the upstream if %s', async (_description, end) => {
    cluster.configure();
    const created = await createUserKey(cluster.nodes[0], token, { expiresAt: cluster.clock.epochMs() + 120_000 });
    await waitUntilKnown(created);
    const before = cluster.upstream.requests.length;
    const reading = await stream(created);
    const result = reading.readRest();
    const received = await waitForRequest(before);
    await end(created);
    const { error, content } = await result;
    expect(content()).toContain('on ');
    expect([error?.code, error?.message]).toEqual(['invalid_api_key', expect.stringContaining('The key of this call')]);
    expect((await received?.closed)?.early).toBe(true);
    cluster.configure();
    await remove(created);
  });

  const rotate = (created: CreatedKey) =>
    sendWithCredentials(cluster.nodes[0], token, `/v1/user/keys/${created.id}/rotate`, { method: 'POST', body: {} });

  it('leaves other streams of the user open', async () => {
    const [deletedKey, otherKey] = [await createUserKey(cluster.nodes[0], token), await createUserKey(cluster.nodes[0], token)];
    await waitUntilKnown(deletedKey);
    await waitUntilKnown(otherKey);
    const before = cluster.upstream.requests.length;
    const [first, second] = [await stream(deletedKey), await stream(otherKey)];
    const result = first.readRest();
    await remove(deletedKey);
    expect((await result).error?.code).toBe('invalid_api_key');
    expect(await identifyWithNode(cluster.nodes[1], otherKey.key)).toBe('ada');
    expect(cluster.upstream.requests.slice(before).filter(({ isOpen }) => isOpen)).toHaveLength(1);
    expect(await second.next()).toBeDefined();
    second.disconnect();
    await remove(otherKey);
  });

  it('ends a call whose reply has not started', async () => {
    const created = await createUserKey(cluster.nodes[0], token);
    await waitUntilKnown(created);
    const before = cluster.upstream.requests.length;
    cluster.upstream.script(() => new Promise(() => undefined));
    const waiting = sendRequest(cluster.nodes[1].url, {
      path: '/v1/chat/completions',
      headers: { 'api-key': created.key, 'content-type': 'application/json' },
      body: { model: 'm', messages },
    });
    const received = await waitForRequest(before);
    await remove(created);
    expect((await waiting).error.code).toBe('invalid_api_key');
    expect((await received?.closed)?.early).toBe(true);
    cluster.upstream.script(talkOn);
  });

  it('ends its background response', async () => {
    const created = await createUserKey(cluster.nodes[0], token);
    await waitUntilKnown(created);
    const response = await sendWithCredentials(cluster.nodes[1], created.key, '/v1/responses', {
      method: 'POST',
      body: { model: 'm', input: 'Go on', background: true },
    });
    const { id } = response.json as { id: string };
    const path = `/v1/responses/${id}`;
    const readStatus = async () => ((await sendWithCredentials(cluster.nodes[0], token, path)).json as { status: string }).status;
    await vi.waitFor(async () => expect(await readStatus()).toBe('in_progress'), soon);
    await remove(created);
    await vi.waitFor(async () => expect(await readStatus()).toBe('failed'), soon);
  });

  it('closes its stream of a background response, and the response of another credential continues', async () => {
    const created = await createUserKey(cluster.nodes[0], token);
    await waitUntilKnown(created);
    const body = { model: 'm', input: 'Go on', background: true };
    const response = await sendWithCredentials(cluster.nodes[1], token, '/v1/responses', { method: 'POST', body });
    const { id } = response.json as { id: string };
    const path = `/v1/responses/${id}`;
    const reading = await openStream(cluster.nodes[1].url, {
      method: 'GET',
      path: `${path}?stream=true`,
      headers: { 'api-key': created.key },
    });
    expect(await reading.next()).toContain('response.created');
    const result = reading.readRest();
    await remove(created);
    await expect(result).rejects.toThrow();
    expect(((await sendWithCredentials(cluster.nodes[0], token, path)).json as { status: string }).status).toBe('in_progress');
    await sendWithCredentials(cluster.nodes[1], token, `${path}/cancel`, { method: 'POST' });
  });

  it('ends its evaluation', async () => {
    const created = await createUserKey(cluster.nodes[0], token);
    await waitUntilKnown(created);
    const [, node] = cluster.nodes;
    const { bucket } = (await sendWithCredentials(node, token, '/v1/bucket')).json as { bucket: string };
    const application = `applications/${bucket}/guide`;
    const app = quickApp({ model: 'm' });
    expect((await sendWithCredentials(node, token, `/v1/${application}`, { method: 'PUT', body: app })).status).toBe(201);
    const testCase = { input: 'Go on', checks: [] };
    expect((await sendWithCredentials(node, token, `/v1/cases/${application}`, { method: 'POST', body: testCase })).status).toBe(
      201,
    );
    const started = await sendWithCredentials(node, created.key, `/v1/evaluations/${application}`, { method: 'POST', body: {} });
    const { id } = started.json as { id: string };
    await remove(created);
    await vi.waitFor(async () => {
      const { json } = await sendWithCredentials(node, token, `/v1/evaluations/${id}`);
      expect(json).toMatchObject({ status: 'failed', error: expect.stringContaining('The key of this call') });
    }, soon);
  });

  it('ends the per-request key of an application and the calls that use it', async () => {
    const created = await createUserKey(cluster.nodes[0], token);
    await waitUntilKnown(created);
    const [, node] = cluster.nodes;
    let perRequestKey = '';
    let inner: Promise<string | undefined> | undefined;
    cluster.upstream.script(async (exchange) => {
      if (!exchange.received.path.startsWith('/app')) return talkOn(exchange);
      perRequestKey = String(exchange.received.headers['api-key']);
      const reading = await openStream(node.url, {
        path: '/v1/chat/completions',
        headers: { 'api-key': perRequestKey, 'content-type': 'application/json' },
        body: { model: 'm', messages, stream: true },
      });
      inner = reading.readRest().then(({ error }) => error?.code ?? undefined);
      return talkOn(exchange);
    });
    const outer = (await stream(created, node, 'app')).readRest();
    await vi.waitFor(() => expect(inner).toBeDefined(), soon);
    expect(await identifyWithNode(node, perRequestKey)).toBe('ada');
    await remove(created);
    expect((await outer).error?.code).toBe('invalid_api_key');
    expect(await inner).toBe('invalid_api_key');
    await vi.waitFor(async () => expect(await identifyWithNode(node, perRequestKey)).toBe('401 invalid_api_key'), soon);
    cluster.upstream.script(talkOn);
  });
});

describe('a node whose database was restored', () => {
  it('reads the keys again and rejects keys that the database no longer contains', async () => {
    await using cluster = await startKeysCluster('SQLite');
    const token = await cluster.issuer.token({ sub: 'ada', roles: 'maker' });
    const [presentKey, missingKey] = [await createUserKey(cluster.nodes[0], token), await createUserKey(cluster.nodes[0], token)];
    for (const { key } of [presentKey, missingKey])
      await vi.waitFor(async () => expect(await identifyWithNode(cluster.nodes[1], key)).toBe('ada'), soon);
    await cluster.database.run(async (kysely) => {
      await kysely.deleteFrom('api_keys').where('id', '=', missingKey.id).execute();
      await kysely.updateTable('api_key_changes').set({ revision: 1 }).execute();
    });
    for (const node of cluster.nodes) {
      await vi.waitFor(async () => expect(await identifyWithNode(node, missingKey.key)).toBe('401 invalid_api_key'), soon);
      expect(await identifyWithNode(node, presentKey.key)).toBe('ada');
    }
  });
});

describe('a node that cannot read the keys', () => {
  it('accepts cached keys for a minute, then rejects them until it can read the keys again', async () => {
    await using cluster = await startKeysCluster('SQLite');
    let isUnavailable = false;
    const { store, blockedUsers } = createKeyStores(cluster.database);
    const changes = store.readUpdates.bind(store);
    store.readUpdates = async (since) => {
      if (isUnavailable) throw createStoreError('it is away');
      return changes(since);
    };
    await using node: TestService = await startService(
      {
        identityProviders: { corporate: createProviderEntry(cluster.issuer, { rolesClaim: 'roles' }) },
        roles: { maker: { selfService: { keys: 1, maxDays: 1 } } },
      },
      { keys: { store, blockedUsers, isShared: true }, clock: cluster.clock },
    );
    const token = await cluster.issuer.token({ sub: 'ada', roles: 'maker' });
    const created = await createUserKey(cluster.nodes[0], token);
    await vi.waitFor(async () => expect(await identifyWithNode(node, created.key)).toBe('ada'), soon);
    isUnavailable = true;
    cluster.clock.advance(58_000);
    expect(await identifyWithNode(node, created.key)).toBe('ada');
    cluster.clock.advance(3_000);
    expect(await identifyWithNode(node, created.key)).toBe('503 overloaded');
    expect(await identifyWithNode(node, 'caller-key')).toBe('key:test');
    await sendWithCredentials(cluster.nodes[0], token, `/v1/user/keys/${created.id}`, { method: 'DELETE' });
    isUnavailable = false;
    expect(await identifyWithNode(node, created.key)).toBe('401 invalid_api_key');
  });
});

describe('a node that cannot read the blocked users', () => {
  it('uses its last list, and blocks a user once it reads a newer list', async () => {
    await using cluster = await startKeysCluster('SQLite');
    let isUnavailable = true;
    const { store, blockedUsers } = createKeyStores(cluster.database);
    const changes = blockedUsers.readUpdates.bind(blockedUsers);
    blockedUsers.readUpdates = async (since) => {
      if (isUnavailable) throw createStoreError('it is away');
      return changes(since);
    };
    const keys = { store, blockedUsers, isShared: true };
    await using node: TestService = await startService({}, { keys, clock: cluster.clock });
    await blockedUsers.put({ user: 'key:test', reason: null, blockedAtMs: 1, blockedBy: 'key:office' });
    expect(await identifyWithNode(node, 'caller-key')).toBe('key:test');
    isUnavailable = false;
    await vi.waitFor(async () => expect(await identifyWithNode(node, 'caller-key')).toBe('403 user_blocked'), soon);
    isUnavailable = true;
    cluster.clock.advance(120_000);
    expect(await identifyWithNode(node, 'caller-key')).toBe('403 user_blocked');
  });
});
