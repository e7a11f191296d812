import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openStream, sendRequest } from '#test/send-request.ts';
import { createKeyStores } from '#test/sql-stores.ts';
import { startService, type TestService } from '#test/start-service.ts';
import { createStoreError } from '#test/store-error.ts';
import { quickApp } from '../applications/support.ts';
import { entryOf } from '../identity/support.ts';
import { askWith, type KeysHouse, knows, type Made, makeKey, startKeysHouse, talkOn } from './keys-house.ts';

vi.setConfig({ testTimeout: 30_000 });

/** Within which what a key began is over. */
const soon = { timeout: 5_000, interval: 50 };
const messages = [{ role: 'user', content: 'Hello' }];

describe.each(['SQLite', 'PostgreSQL'] as const)('a call whose key ends, on %s', (engine) => {
  let house: KeysHouse;
  let token: string;
  const stream = (made: Made, node: { url: string } = house.nodes[1], model = 'm') =>
    openStream(node.url, {
      path: '/v1/chat/completions',
      headers: { 'api-key': made.key, 'content-type': 'application/json' },
      body: { model, messages, stream: true },
    });
  const remove = (made: Made) => askWith(house.nodes[0], token, `/v1/user/keys/${made.id}`, { method: 'DELETE' });
  const known = async (made: Made) =>
    void (await vi.waitFor(async () => expect(await knows(house.nodes[1], made.key)).toBe('ada'), soon));
  const asked = async (from: number) => {
    await vi.waitFor(() => expect(house.upstream.requests.length).toBeGreaterThan(from), soon);
    return house.upstream.requests[from];
  };

  beforeAll(async () => {
    house = await startKeysHouse(engine);
    token = await house.issuer.token({ sub: 'ada', roles: 'maker' });
    house.upstream.script(talkOn);
  });
  afterAll(() => house[Symbol.asyncDispose]());

  it.each([
    ['is deleted', async (made: Made) => void (await remove(made))],
    ['is replaced', async (made: Made) => void (await rotateNow(made))],
    ['expires', async () => void house.clock.moveCalendar(120_001)],
    ['is of a user whose roles give no right to it any more', async () => house.configure({ roles: { maker: {} } })],
  ])('that %s ends its stream with an error event and disconnects the upstream', async (_what, end) => {
    house.configure();
    const made = await makeKey(house.nodes[0], token, { expiresAt: house.clock.epochMs() + 120_000 });
    await known(made);
    const before = house.upstream.requests.length;
    const reading = await stream(made);
    const whole = reading.readRest();
    const received = await asked(before);
    await end(made);
    const { error, content } = await whole;
    expect(content()).toContain('on ');
    expect([error?.code, error?.message]).toEqual(['invalid_api_key', expect.stringContaining('The key of this call')]);
    expect((await received?.closed)?.early).toBe(true);
    house.configure();
    await remove(made);
  });

  const rotateNow = (made: Made) =>
    askWith(house.nodes[0], token, `/v1/user/keys/${made.id}/rotate`, { method: 'POST', body: {} });

  it('does not end other streams of the user', async () => {
    const [gone, kept] = [await makeKey(house.nodes[0], token), await makeKey(house.nodes[0], token)];
    await known(gone);
    await known(kept);
    const before = house.upstream.requests.length;
    const [first, second] = [await stream(gone), await stream(kept)];
    const over = first.readRest();
    await remove(gone);
    expect((await over).error?.code).toBe('invalid_api_key');
    expect(await knows(house.nodes[1], kept.key)).toBe('ada');
    expect(house.upstream.requests.slice(before).filter(({ isOpen }) => isOpen)).toHaveLength(1);
    expect(await second.next()).toBeDefined();
    second.disconnect();
    await remove(kept);
  });

  it('is rejected if its reply has not started', async () => {
    const made = await makeKey(house.nodes[0], token);
    await known(made);
    const before = house.upstream.requests.length;
    house.upstream.script(() => new Promise(() => undefined));
    const waiting = sendRequest(house.nodes[1].url, {
      path: '/v1/chat/completions',
      headers: { 'api-key': made.key, 'content-type': 'application/json' },
      body: { model: 'm', messages },
    });
    const received = await asked(before);
    await remove(made);
    expect((await waiting).error.code).toBe('invalid_api_key');
    expect((await received?.closed)?.early).toBe(true);
    house.upstream.script(talkOn);
  });

  it('ends as a background response', async () => {
    const made = await makeKey(house.nodes[0], token);
    await known(made);
    const created = await askWith(house.nodes[1], made.key, '/v1/responses', {
      method: 'POST',
      body: { model: 'm', input: 'Go on', background: true },
    });
    const { id } = created.json as { id: string };
    const path = `/v1/responses/${id}`;
    const statusOf = async () => ((await askWith(house.nodes[0], token, path)).json as { status: string }).status;
    await vi.waitFor(async () => expect(await statusOf()).toBe('in_progress'), soon);
    await remove(made);
    await vi.waitFor(async () => expect(await statusOf()).toBe('failed'), soon);
  });

  it('ends as the stream of a response that continues', async () => {
    const made = await makeKey(house.nodes[0], token);
    await known(made);
    const body = { model: 'm', input: 'Go on', background: true };
    const created = await askWith(house.nodes[1], token, '/v1/responses', { method: 'POST', body });
    const { id } = created.json as { id: string };
    const path = `/v1/responses/${id}`;
    const reading = await openStream(house.nodes[1].url, {
      method: 'GET',
      path: `${path}?stream=true`,
      headers: { 'api-key': made.key },
    });
    expect(await reading.next()).toContain('response.created');
    const over = reading.readRest();
    await remove(made);
    await expect(over).rejects.toThrow();
    expect(((await askWith(house.nodes[0], token, path)).json as { status: string }).status).toBe('in_progress');
    await askWith(house.nodes[1], token, `${path}/cancel`, { method: 'POST' });
  });

  it('ends as an evaluation', async () => {
    const made = await makeKey(house.nodes[0], token);
    await known(made);
    const [, node] = house.nodes;
    const { bucket } = (await askWith(node, token, '/v1/bucket')).json as { bucket: string };
    const application = `applications/${bucket}/guide`;
    const app = quickApp({ model: 'm' });
    expect((await askWith(node, token, `/v1/${application}`, { method: 'PUT', body: app })).status).toBe(201);
    const asked = { input: 'Go on', checks: [] };
    expect((await askWith(node, token, `/v1/cases/${application}`, { method: 'POST', body: asked })).status).toBe(201);
    const started = await askWith(node, made.key, `/v1/evaluations/${application}`, { method: 'POST', body: {} });
    const { id } = started.json as { id: string };
    await remove(made);
    await vi.waitFor(async () => {
      const { json } = await askWith(node, token, `/v1/evaluations/${id}`);
      expect(json).toMatchObject({ status: 'failed', error: expect.stringContaining('The key of this call') });
    }, soon);
  });

  it('ends the per-request key and the calls that an application makes with it', async () => {
    const made = await makeKey(house.nodes[0], token);
    await known(made);
    const [, node] = house.nodes;
    let lent = '';
    let inner: Promise<string | undefined> | undefined;
    house.upstream.script(async (answering) => {
      if (!answering.received.path.startsWith('/app')) return talkOn(answering);
      lent = String(answering.received.headers['api-key']);
      const reading = await openStream(node.url, {
        path: '/v1/chat/completions',
        headers: { 'api-key': lent, 'content-type': 'application/json' },
        body: { model: 'm', messages, stream: true },
      });
      inner = reading.readRest().then(({ error }) => error?.code ?? undefined);
      return talkOn(answering);
    });
    const outer = (await stream(made, node, 'app')).readRest();
    await vi.waitFor(() => expect(inner).toBeDefined(), soon);
    expect(await knows(node, lent)).toBe('ada');
    await remove(made);
    expect((await outer).error?.code).toBe('invalid_api_key');
    expect(await inner).toBe('invalid_api_key');
    await vi.waitFor(async () => expect(await knows(node, lent)).toBe('401 invalid_api_key'), soon);
    house.upstream.script(talkOn);
  });
});

describe('a node whose database was restored', () => {
  it('reads the keys again and rejects keys that it does not contain', async () => {
    await using house = await startKeysHouse('SQLite');
    const token = await house.issuer.token({ sub: 'ada', roles: 'maker' });
    const [kept, lost] = [await makeKey(house.nodes[0], token), await makeKey(house.nodes[0], token)];
    for (const { key } of [kept, lost]) await vi.waitFor(async () => expect(await knows(house.nodes[1], key)).toBe('ada'), soon);
    await house.database.run(async (kysely) => {
      await kysely.deleteFrom('api_keys').where('id', '=', lost.id).execute();
      await kysely.updateTable('api_key_changes').set({ revision: 1 }).execute();
    });
    for (const node of house.nodes) {
      await vi.waitFor(async () => expect(await knows(node, lost.key)).toBe('401 invalid_api_key'), soon);
      expect(await knows(node, kept.key)).toBe('ada');
    }
  });
});

describe('a node that cannot read the keys', () => {
  it('accepts cached keys for a minute, then rejects them until it can read again', async () => {
    await using house = await startKeysHouse('SQLite');
    let isUnavailable = false;
    const { store, blockedUsers } = createKeyStores(house.database);
    const changes = store.changes.bind(store);
    store.changes = async (since) => {
      if (isUnavailable) throw createStoreError('it is away');
      return changes(since);
    };
    await using node: TestService = await startService(
      {
        identityProviders: { corporate: entryOf(house.issuer, { rolesClaim: 'roles' }) },
        roles: { maker: { selfService: { keys: 1, maxDays: 1 } } },
      },
      { keys: { store, blockedUsers, isShared: true }, clock: house.clock },
    );
    const token = await house.issuer.token({ sub: 'ada', roles: 'maker' });
    const made = await makeKey(house.nodes[0], token);
    await vi.waitFor(async () => expect(await knows(node, made.key)).toBe('ada'), soon);
    isUnavailable = true;
    house.clock.pass(58_000);
    expect(await knows(node, made.key)).toBe('ada');
    house.clock.pass(3_000);
    expect(await knows(node, made.key)).toBe('503 overloaded');
    expect(await knows(node, 'caller-key')).toBe('key:test');
    await askWith(house.nodes[0], token, `/v1/user/keys/${made.id}`, { method: 'DELETE' });
    isUnavailable = false;
    expect(await knows(node, made.key)).toBe('401 invalid_api_key');
  });
});

describe('a node that cannot read the blocked users', () => {
  it('serves with the list that it has, and ends the calls of blocked users once it reads one', async () => {
    await using house = await startKeysHouse('SQLite');
    let isUnavailable = true;
    const { store, blockedUsers } = createKeyStores(house.database);
    const changes = blockedUsers.changes.bind(blockedUsers);
    blockedUsers.changes = async (since) => {
      if (isUnavailable) throw createStoreError('it is away');
      return changes(since);
    };
    const keys = { store, blockedUsers, isShared: true };
    await using node: TestService = await startService({}, { keys, clock: house.clock });
    await blockedUsers.put({ user: 'key:test', reason: null, blockedAtMs: 1, blockedBy: 'key:office' });
    expect(await knows(node, 'caller-key')).toBe('key:test');
    isUnavailable = false;
    await vi.waitFor(async () => expect(await knows(node, 'caller-key')).toBe('403 user_blocked'), soon);
    isUnavailable = true;
    house.clock.pass(120_000);
    expect(await knows(node, 'caller-key')).toBe('403 user_blocked');
  });
});
