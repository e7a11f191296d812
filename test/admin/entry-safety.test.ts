import { hash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { checkConfiguration } from '#configuration/check.ts';
import type { EntryStore } from '#domain/administration/entry-store.ts';
import { StoreError } from '#domain/store-error.ts';
import { RuntimeEntries } from '#services/administration/runtime-entries.ts';
import { SqlEntryStore } from '#stores/sql/administration/entry-store.ts';
import { openResponses } from '#test/response-stores.ts';
import { startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestService } from '#test/start-service.ts';
import { chat, identifyWithNode, sendWithCredentials, talkOn } from '../keys/keys-cluster.ts';
import { type Cluster, call, demo, getError, read, seal, send, startCluster, until } from './entries-cluster.ts';

const auditor = { 'api-key': 'auditor-key' };
const quickApp = (model: string, extra: object = {}) => ({
  applicationTypeSchemaId: 'https://parley.example/custom_application_schemas/quickapps',
  applicationProperties: { model, instructions: 'Be brief.', temperature: 0, ...extra },
});
const latestChange = async (node: TestService) => String(read(await send(node, 'GET', 'changes?limit=1')).data[0]?.id);

describe('a secret', () => {
  let cluster: Cluster;
  let node: TestService;
  beforeAll(async () => {
    const keys = {
      'admin-key': { project: 'office', role: 'admin' },
      'auditor-key': { project: 'audit', role: 'auditor' },
      'canary-of-a-file': { project: 'team', role: 'night' },
      named: { project: 'team', key: 'canary-of-a-name' },
    };
    cluster = await startCluster({ keys });
    [node] = cluster.nodes;
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it('that is the name of a file key is not in the error for a deleted role, also not for auditors', async () => {
    await send(node, 'PUT', 'roles/night', {});
    const deleted = await send(node, 'DELETE', 'roles/night');
    const pruned = await send(node, 'POST', 'apply?prune=true&dryRun=true', { roles: {} }, auditor);
    for (const rejected of [deleted, pruned]) {
      expect(getError(rejected)).toMatchObject({ status: 409, code: 'in_use' });
      expect(rejected.text).toContain('keys[\\"***#3\\"]');
      expect(rejected.text).not.toContain('canary');
    }
  });

  it('that is the name of a file key does not become an ID', async () => {
    expect((await send(node, 'POST', 'keys/canary-of-a-file/migrate')).status).toBe(404);
    expect(getError(await send(node, 'POST', 'keys/3/migrate'))).toMatchObject({ status: 400, param: 'id' });
    expect((await send(node, 'POST', 'keys/named/migrate')).status).toBe(200);
    const listed = await send(node, 'GET', 'keys?limit=500');
    expect(listed.text + JSON.stringify(cluster.audited)).not.toContain('canary');
    expect(read(await send(node, 'GET', 'keys/3'))).toMatchObject({ id: '3', source: 'file', project: 'team' });
    const writes = [
      await send(node, 'PUT', 'keys/3', { project: 'team' }),
      await send(node, 'DELETE', 'keys/3'),
      await send(node, 'POST', 'keys/3/rotate', {}),
    ];
    expect(writes.map((write) => getError(write).code)).toEqual(Array.from({ length: 3 }, () => 'configured_in_file'));
  });

  it('cannot be the ID of its key, and digits cannot, because file keys are listed under them', async () => {
    const secret = 'a-secret-that-is-an-id';
    expect((await send(node, 'PUT', `keys/${secret}`, { project: 'team', key: secret })).status).toBe(400);
    expect((await send(node, 'PUT', 'keys/9', { project: 'team', key: secret })).status).toBe(400);
    expect((await send(node, 'POST', 'apply', { keys: { 2: { project: 'team', key: secret } } })).status).toBe(400);
    expect((await call(node, 'file', secret)).status).toBe(401);
  });

  it.each([[''], ['canary\n'], [' canary'], ['can\u0000ary'], [5], [null]])(
    'of a key cannot be %j, which no request can contain',
    async (key) => {
      const rejected = await send(node, 'PUT', 'keys/unusable', { project: 'team', key });
      expect(getError(rejected)).toMatchObject({ status: 400, param: 'keys.unusable.key' });
      expect(rejected.text).not.toContain('canary');
    },
  );

  it('of a key cannot contradict its digest', async () => {
    const entry = { project: 'team', key: 'canary-of-a-key', sha256: hash('sha256', 'another key') };
    expect(getError(await send(node, 'PUT', 'keys/twofold', entry)).param).toBe('keys.twofold.key');
  });

  it('of an addon is not sent to another token address, and stays if it is omitted', async () => {
    const authorization = { type: 'client_id_secret', client_id: 'c', token_url: 'https://a.example/token' };
    const addon = { url: 'https://a.example/openapi.json', authorization: { ...authorization, client_secret: 'canary-client' } };
    expect((await send(node, 'PUT', 'addons/tools', addon)).status).toBe(201);
    for (const client_secret of ['***', undefined]) {
      const moved = { ...authorization, token_url: 'https://attacker.example/token', client_secret };
      const rejected = await send(node, 'PUT', 'addons/tools', { ...addon, authorization: moved });
      expect(getError(rejected)).toMatchObject({ status: 400, param: 'addons.tools.authorization' });
    }
    const kept = { ...addon, displayName: 'Tools', authorization };
    expect((await send(node, 'PUT', 'addons/tools', kept)).status).toBe(200);
    expect(node.snapshot.current().configuration.addons.tools?.authorization).toMatchObject({ client_secret: 'canary-client' });
  });

  it('does not influence the ETag of a file entry', async () => {
    const configure = (key: string) =>
      node.reload({
        keys: { 'admin-key': { project: 'office', role: 'admin' }, named: { project: 'team', key } },
        models: { file: demo },
      });
    const etags: unknown[] = [];
    for (const key of ['canary-1', 'canary-2']) {
      configure(key);
      etags.push((await send(node, 'GET', 'keys/named')).headers.etag);
    }
    expect(etags[0]).toBe(etags[1]);
  });
});

describe('a revoked key', () => {
  let cluster: Cluster;
  let node: TestService;
  beforeAll(async () => {
    cluster = await startCluster();
    [node] = cluster.nodes;
  });
  afterAll(() => cluster[Symbol.asyncDispose]());
  const create = async () => read(await send(node, 'POST', 'keys', { project: 'team' })) as never as { id: string; key: string };

  it('does not become valid again by an old document, or under another ID', async () => {
    const { id, key } = await create();
    const exported = read(await send(node, 'GET', 'export'));
    const entry = (exported as never as { keys: Record<string, object> }).keys[id] ?? {};
    expect((await send(node, 'DELETE', `keys/${id}`)).status).toBe(204);
    const attempts = [
      await send(node, 'POST', 'apply', exported),
      await send(cluster.nodes[1], 'PUT', `keys/${id}`, entry),
      await send(node, 'PUT', 'keys/other', entry),
      await send(node, 'PUT', 'keys/other', { project: 'team', key }),
    ];
    for (const attempt of attempts) expect(getError(attempt)).toMatchObject({ status: 409, code: 'key_revoked' });
    expect((await call(node, 'file', key)).status).toBe(401);
  });

  it('does not become valid again as the previous secret of a rotation', async () => {
    const { id, key } = await create();
    const { etag: _etag, ...before } = read(await send(node, 'GET', `keys/${id}`)) as never as Record<string, string>;
    expect((await send(node, 'POST', `keys/${id}/rotate`, {})).status).toBe(200);
    const { etag: _next, ...entry } = read(await send(node, 'GET', `keys/${id}`)) as never as Record<string, string>;
    const previous = { sha256: before.sha256, until: '2099-01-01T00:00:00Z' };
    expect(getError(await send(node, 'PUT', `keys/${id}`, { ...entry, previous })).param).toBe(`keys.${id}.previous`);
    const stolen = { project: 'team', key: 'another-secret-of-the-attacker', previous };
    expect(getError(await send(node, 'PUT', 'keys/stolen', stolen)).code).toBe('key_revoked');
    expect((await call(node, 'file', key)).status).toBe(401);
  });

  it('does not become valid again when the undo of its creation is undone', async () => {
    const { key } = await create();
    for (const status of [200, 409])
      expect((await send(node, 'POST', `changes/${await latestChange(node)}/rollback`)).status).toBe(status);
    expect((await call(node, 'file', key)).status).toBe(401);
  });

  it('that expired by a change does not become valid again when the change is undone', async () => {
    const { id, key } = await create();
    const { id: _id, ...entry } = read(await send(node, 'GET', `keys/${id}`));
    await send(node, 'PUT', `keys/${id}`, { ...entry, expiresAt: '2020-01-01T00:00:00Z' });
    expect(getError(await send(node, 'POST', `changes/${await latestChange(node)}/rollback`)).code).toBe('key_revoked');
    expect((await call(node, 'file', key)).status).toBe(401);
  });

  it('stays blocked if an older document does not mention the block', async () => {
    const { id, key } = await create();
    const exported = read(await send(node, 'GET', 'export'));
    const { etag: _etag, ...entry } = read(await send(node, 'GET', `keys/${id}`));
    expect((await send(node, 'PUT', `keys/${id}`, { ...entry, disabled: true })).status).toBe(200);
    expect((await send(node, 'POST', 'apply', exported)).status).toBe(200);
    expect((await send(node, 'PUT', `keys/${id}`, { project: 'team' })).status).toBe(200);
    expect((await call(node, 'file', key)).status).toBe(401);
    expect((await send(node, 'PUT', `keys/${id}`, { project: 'team', disabled: false })).status).toBe(200);
    expect((await call(node, 'file', key)).status).toBe(200);
  });
});

it('the calls of a key end within 5 s on other nodes after it is deleted', async () => {
  const upstream = await startScriptedUpstream();
  const upstreams = [{ endpoint: upstream.endpoint, key: 'k', model: 'm' }];
  const files = { models: { m: { upstreams, maxRetryAttempts: 1 } }, applications: { app: { endpoint: `${upstream.url}/app` } } };
  await using cluster = await startCluster(files);
  const [node, other] = cluster.nodes;
  const { id, key } = read(await send(node, 'POST', 'keys', { project: 'team' })) as never as { id: string; key: string };
  await until(async () => (await identifyWithNode(other, key)) === 'key:team');
  upstream.script(talkOn);
  const body = { model: 'm', input: 'Go on', background: true };
  const { json } = await sendWithCredentials(other, key, '/v1/responses', { method: 'POST', body });
  await until(async () => upstream.requests.length === 1);
  let perRequestKey = '';
  upstream.script(async (exchange) => {
    perRequestKey = String(exchange.received.headers['api-key']);
    await talkOn(exchange);
  });
  const application = chat(other, key, 'app');
  await until(async () => (await identifyWithNode(other, perRequestKey)) === 'key:team');
  upstream.script(() => new Promise(() => undefined));
  const requests = upstream.requests.length;
  const waiting = chat(other, key);
  await until(async () => upstream.requests.length > requests);
  const deletedAt = Date.now();
  expect((await send(node, 'DELETE', `keys/${id}`)).status).toBe(204);
  expect([await application, await waiting]).toEqual(['401 invalid_api_key', '401 invalid_api_key']);
  await until(async () => (await identifyWithNode(other, perRequestKey)) === '401 invalid_api_key');
  const successor = { project: 'team', key: 'a-secret-of-the-successor' };
  await send(other, 'PUT', 'keys/successor', successor);
  const path = `/v1/responses/${(json as { id: string }).id}`;
  await until(
    async () => ((await sendWithCredentials(other, successor.key, path)).json as { status: string }).status === 'failed',
  );
  expect(Date.now() - deletedAt).toBeLessThan(5_000);
  await upstream.close();
});

describe('an administrator', () => {
  it('is not counted as the last one if its key allows no address', async () => {
    await using stored = await openResponses('SQLite');
    const key = 'a-secret-of-an-administrator';
    const chief = { project: 'office', roles: ['admin'], key };
    {
      await using first = await startCluster({}, { opened: stored });
      await send(first.nodes[0], 'PUT', 'keys/chief', chief);
    }
    await using second = await startCluster({ keys: { 'user-key': { project: 'user' } } }, { opened: stored });
    const put = (change: object) =>
      send(second.nodes[0], 'PUT', 'keys/chief', { project: 'office', roles: ['admin'], ...change }, { 'api-key': key });
    const lockouts = [
      { allowedIps: [] },
      { deployments: [] },
      { expiresAt: '2020-01-01T00:00:00Z' },
      { disabled: true },
      { roles: [] },
    ];
    for (const lockout of lockouts)
      expect(getError(await put(lockout))).toMatchObject({ status: 409, code: 'last_administrator' });
  });

  it('is not replaced by an auditor, who can only use dry runs', async () => {
    await using cluster = await startCluster();
    const [node] = cluster.nodes;
    expect((await send(node, 'PUT', 'models/x?dryRun=true', demo, auditor)).status).toBe(200);
    expect((await send(node, 'PUT', 'models/x', demo, auditor)).status).toBe(403);
    expect((await send(node, 'PUT', 'models/x?dryRun=false', demo, auditor)).status).toBe(403);
    for (const flag of ['dryRun', 'dryRun='])
      expect(getError(await send(node, 'PUT', `models/x?${flag}`, demo))).toMatchObject({ status: 400, param: 'dryRun' });
    expect(getError(await send(node, 'POST', 'apply?prune=', {}))).toMatchObject({ status: 400, param: 'prune' });
    expect((await send(node, 'GET', 'models/x')).status).toBe(404);
  });
});

describe('a document', () => {
  let cluster: Cluster;
  let node: TestService;
  beforeAll(async () => {
    cluster = await startCluster();
    [node] = cluster.nodes;
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it.each([
    [{ roles: { '': {} } }, 'roles[""]'],
    [{ roles: { '..': {} } }, 'roles[".."]'],
    [{ identityProviders: {}, 'identity-providers': {} }, 'identity-providers'],
  ])('with %j is rejected', async (document, param) => {
    expect(getError(await send(node, 'POST', 'apply', document))).toMatchObject({ status: 400, param });
  });

  it('can contain names of JavaScript objects as IDs', async () => {
    const { data } = read(await send(node, 'POST', 'apply', { models: { constructor: demo }, roles: { toString: {} } }));
    expect(data.map(({ kind, id }) => `${kind} ${id}`)).toEqual(['models constructor', 'roles toString']);
    expect((await send(node, 'PUT', 'models/__proto__', demo)).status).toBe(201);
    for (const id of ['__proto__', 'constructor']) {
      expect((await call(node, id)).status).toBe(200);
      expect((await send(node, 'DELETE', `models/${id}`)).status).toBe(204);
      expect((await send(node, 'GET', `models/${id}`)).status).toBe(404);
    }
    expect((await send(node, 'POST', 'models/toString/migrate')).status).toBe(404);
  });

  it('with applications makes no changes the second time', async () => {
    const document = { models: { base: demo }, applications: { helper: quickApp('base') } };
    expect(read(await send(node, 'POST', 'apply', document)).data).toHaveLength(2);
    expect(read(await send(node, 'POST', 'apply', document))).toMatchObject({ change: null, data: [] });
  });
});

describe('a large document', () => {
  it('is rejected with the paths of all entries whose secrets are missing', async () => {
    await using cluster = await startCluster();
    const models = { a: { upstreams: [{ endpoint: 'https://a.example', key: '***' }] } };
    const addons = { b: { url: 'https://b.example', authorization: { type: 'bearer', token: '***' } } };
    const rejected = await send(cluster.nodes[0], 'POST', 'apply', { models, addons, keys: { c: { project: 'p' } } });
    const { errors } = (JSON.parse(rejected.text) as { error: { errors: { path: string }[] } }).error;
    expect(errors.map(({ path }) => path)).toEqual(['models.a.upstreams[0].key', 'addons.b.authorization.token', 'keys.c.key']);
  });

  it('can contain 10,000 keys, and is listed with its first entries', async () => {
    await using cluster = await startCluster();
    const [node] = cluster.nodes;
    const entry = { project: 'team', roles: ['staff'], deployments: ['file'], allowedIps: ['::/0'] };
    const keys = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`k${index}`, { ...entry, sha256: hash('sha256', `key ${index}`) }]),
    );
    expect((await send(node, 'POST', 'apply', { keys })).status).toBe(200);
    const { data } = read(await send(node, 'GET', 'changes')) as unknown as { data: { entryCount: number; entries: object[] }[] };
    expect(data.map(({ entryCount, entries }) => [entryCount, entries.length])).toEqual([[10_000, 20]]);
  });

  it('makes the pages of changes shorter if its entries are large', async () => {
    await using cluster = await startCluster();
    const [node] = cluster.nodes;
    const ids = Array.from({ length: 20 }, (_, index) => `large-${index}`);
    for (const letter of ['a', 'b', 'c']) {
      const model = { ...demo, defaults: { user: letter.repeat(45_000) } };
      const models = Object.fromEntries(ids.map((id) => [id, model]));
      expect((await send(node, 'POST', 'apply', { models })).status).toBe(200);
    }
    const sizes: number[] = [];
    let token = '';
    do {
      const page = read(await send(node, 'GET', `changes${token && `?token=${token}`}`));
      sizes.push(page.data.length);
      token = String(page.nextToken ?? '');
    } while (token !== '');
    expect(sizes).toEqual([1, 2]);
  });

  it('with thousands of upstreams does not block the node while their secrets are restored', async () => {
    await using cluster = await startCluster();
    const [node] = cluster.nodes;
    const upstreams = (first: number, key: string) =>
      Array.from({ length: 10_000 }, (_, index) => ({ endpoint: `https://u${Math.abs(first - index)}.example`, key }));
    expect((await send(node, 'PUT', 'models/wide', { upstreams: upstreams(0, 'canary') })).status).toBe(201);
    const startedAt = process.cpuUsage();
    expect((await send(node, 'PUT', 'models/wide', { upstreams: upstreams(9_999, '***') })).status).toBe(200);
    expect(getError(await send(node, 'PUT', 'models/wide', { upstreams: upstreams(20_000, '***') })).status).toBe(400);
    // The comparison of all pairs took 40 s.
    expect(process.cpuUsage(startedAt).user / 1e6).toBeLessThan(10);
  });

  it('can be as deep as a body', async () => {
    await using cluster = await startCluster();
    const [node] = cluster.nodes;
    let schema: object = {};
    for (let depth = 0; depth < 57; depth += 1) schema = { not: schema };
    const defaults = { response_format: { type: 'json_schema', json_schema: { name: 'deep', schema } } };
    expect((await send(node, 'PUT', 'models/deep', { ...demo, defaults })).status).toBe(201);
    expect((await send(node, 'GET', 'models/deep')).status).toBe(200);
    expect(read(await send(node, 'GET', 'changes')).data).toHaveLength(1);
  });
});

it('a forced deletion leaves out a chain of quick apps, which return with the model', async () => {
  await using cluster = await startCluster();
  const [node] = cluster.nodes;
  const applications = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`a${index}`, quickApp(index === 0 ? 'base' : `a${index - 1}`)]),
  );
  await send(node, 'POST', 'apply', { models: { base: demo }, applications });
  expect((await send(node, 'DELETE', 'models/base?force=true')).status).toBe(204);
  const inForce = () => Object.keys(node.snapshot.current().configuration.applications).length;
  expect(inForce()).toBe(0);
  await send(node, 'PUT', 'models/base', demo);
  expect(inForce()).toBe(20);
});

it('the first identity provider keeps its position while other providers exist', async () => {
  await using cluster = await startCluster();
  const [node, other] = cluster.nodes;
  const provider = (name: string) => ({ issuer: `https://${name}.example`, audience: 'parley' });
  await send(node, 'PUT', 'identity-providers/zeta', provider('zeta'));
  await send(other, 'PUT', 'identity-providers/alpha', provider('alpha'));
  expect(getError(await send(node, 'DELETE', 'identity-providers/zeta?force=true'))).toMatchObject({
    status: 409,
    code: 'in_use',
  });
  expect((await send(node, 'DELETE', 'identity-providers/alpha')).status).toBe(204);
  expect((await send(node, 'DELETE', 'identity-providers/zeta')).status).toBe(204);
});

it('an entry can be deleted after a key has expired', async () => {
  await using cluster = await startCluster();
  const [node] = cluster.nodes;
  await send(node, 'PUT', 'models/unused', demo);
  const expiresAtMs = Date.now() + 1_000;
  const created = await send(node, 'POST', 'keys', { project: 'team', expiresAt: new Date(expiresAtMs).toISOString() });
  expect(created.status).toBe(201);
  await until(async () => Date.now() > expiresAtMs);
  expect((await send(node, 'DELETE', 'models/unused')).status).toBe(204);
});

it('a file with the ID of a model at run time leaves out only this model', async () => {
  await using cluster = await startCluster();
  const [node] = cluster.nodes;
  await send(node, 'POST', 'apply', { models: { taken: demo, other: demo } });
  const keys = { 'admin-key': { project: 'office', role: 'admin' } };
  node.reload({ keys, models: { file: demo }, applications: { taken: { endpoint: 'https://app.example/chat' } } });
  expect((await call(node, 'other')).status).toBe(200);
  expect(Object.keys(node.snapshot.current().configuration.models).sort()).toEqual(['file', 'other']);
});

it('the first identity provider stays the first one after a restart, even if a clock is behind', async () => {
  await using stored = await openResponses('SQLite');
  let offsetMs = 0;
  const clock = { ...systemClock, epochMs: () => systemClock.epochMs() + offsetMs };
  const first = (cluster: Cluster) => Object.keys(cluster.nodes[0].snapshot.current().configuration.identityProviders)[0];
  {
    await using cluster = await startCluster({}, { opened: stored, clock });
    await send(cluster.nodes[0], 'PUT', 'identity-providers/zeta', { issuer: 'https://zeta.example', audience: 'parley' });
    offsetMs = -3_600_000;
    await send(cluster.nodes[1], 'PUT', 'identity-providers/alpha', { issuer: 'https://alpha.example', audience: 'parley' });
    expect(first(cluster)).toBe('zeta');
  }
  await using cluster = await startCluster({}, { opened: stored });
  expect(first(cluster)).toBe('zeta');
});

it('a configuration that could not be put in force is tried again', async () => {
  await using stored = await openResponses('SQLite');
  const files = checkConfiguration({ keys: { 'admin-key': { project: 'office', role: 'admin' } }, models: { file: demo } });
  if ('errors' in files) throw new Error('invalid');
  let failures = 1;
  const models: string[][] = [];
  const entries = new RuntimeEntries({
    ...{ store: new SqlEntryStore(stored.database, seal), isShared: true, files, check: checkConfiguration, clock: systemClock },
    newId: randomUUID,
    reportError: () => undefined,
    activate({ configuration }) {
      if (failures-- > 0) throw new Error('this test fails once');
      models.push(Object.keys(configuration.models));
    },
  });
  const plan = () => [{ kind: 'models', id: 'm', after: { value: demo } }] as const;
  await entries.change(plan, { author: 'key:office', action: 'saved' });
  await until(async () => models.length > 0);
  entries.close();
  expect(models).toEqual([['file', 'm']]);
});

/** Returns a wrapper for stores that fail while `isDown` returns true. */
function interruptWhile(isDown: () => boolean): (store: EntryStore) => EntryStore {
  return (store) =>
    new Proxy(store, {
      get(target, name) {
        const method = Reflect.get(target, name) as (...args: unknown[]) => unknown;
        return async (...args: unknown[]) => {
          if (isDown()) throw new StoreError('this test interrupts it');
          return method.apply(target, args);
        };
      },
    });
}

describe('a node without the store', () => {
  it('rejects writes, and after a minute the keys created at run time, until the store is back', async () => {
    let isDown = false;
    let offsetMs = 0;
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + offsetMs };
    const wrap = interruptWhile(() => isDown);
    await using cluster = await startCluster({}, { clock, wrap });
    const [node] = cluster.nodes;
    const { key } = read(await send(node, 'POST', 'keys', { project: 'team' })) as never as { key: string };
    isDown = true;
    expect((await send(node, 'PUT', 'models/lost', demo)).status).toBe(503);
    expect((await send(node, 'GET', 'models/lost')).status).toBe(503);
    expect((await call(node, 'file', key)).status).toBe(200);
    offsetMs = 61_000;
    expect((await call(node, 'file', key)).status).toBe(503);
    expect((await call(node, 'file', 'user-key')).status).toBe(200);
    isDown = false;
    await until(async () => (await call(node, 'file', key)).status === 200);
    expect((await send(node, 'GET', 'models/lost')).status).toBe(404);
  });

  it('does not report unknown keys as invalid if it has never read the entries', async () => {
    let isDown = true;
    await using cluster = await startCluster({}, { wrap: interruptWhile(() => isDown) });
    const [node] = cluster.nodes;
    expect((await call(node, 'file', 'a-key-of-another-node')).status).toBe(503);
    expect((await call(node, 'file', 'user-key')).status).toBe(200);
    isDown = false;
    await until(async () => (await call(node, 'file', 'a-key-of-another-node')).status === 401);
  });
});
