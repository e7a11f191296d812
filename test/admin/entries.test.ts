import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openResponses } from '#test/response-stores.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestService } from '#test/start-service.ts';
import { talkOn } from '../keys/keys-cluster.ts';
import { type Cluster, call, demo, getError, read, send, startCluster, until } from './entries-cluster.ts';

describe('an entry that is created at run time', () => {
  let cluster: Cluster;
  let node: TestService;
  beforeAll(async () => {
    cluster = await startCluster();
    [node] = cluster.nodes;
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it('is in force on this node immediately, and on other nodes within a second', async () => {
    const created = await send(node, 'PUT', 'models/small', { ...demo, displayName: 'Small' });
    expect(created.status).toBe(201);
    expect(read(created)).toMatchObject({ id: 'small', source: 'runtime', displayName: 'Small' });
    expect(created.headers.etag).toBe(`"${read(created).etag}"`);
    expect((await call(node, 'small')).status).toBe(200);
    const startedAt = Date.now();
    await until(async () => (await call(cluster.nodes[1], 'small')).status === 200);
    // Generous, because the test machine may be busy. The interval is 300 ms.
    expect(Date.now() - startedAt).toBeLessThan(5_000);
    const again = await send(node, 'PUT', 'models/small', { ...demo, displayName: 'Small' });
    expect([again.status, again.headers.etag]).toEqual([200, created.headers.etag]);
  });

  it('is rejected with every path if it is invalid, and is not stored', async () => {
    const rejected = await send(node, 'PUT', 'models/bad', { upstreams: [{ protocol: 'openai', weight: -1 }], pricing: 3 });
    expect(getError(rejected)).toMatchObject({ status: 400, code: 'invalid_request' });
    const { errors } = (JSON.parse(rejected.text) as { error: { errors: { path: string }[] } }).error;
    expect(errors.map(({ path }) => path).sort()).toEqual([
      'models.bad.pricing',
      'models.bad.upstreams[0].endpoint',
      'models.bad.upstreams[0].weight',
    ]);
    expect((await send(node, 'GET', 'models/bad')).status).toBe(404);
  });

  it('cannot replace an entry of the files, and is listed with these', async () => {
    expect(getError(await send(node, 'PUT', 'models/file', { ...demo, displayName: 'x' })).code).toBe('configured_in_file');
    expect(getError(await send(node, 'DELETE', 'models/file')).code).toBe('configured_in_file');
    expect((await send(node, 'PUT', 'models/file', demo)).status).toBe(200);
    const { data } = read(await send(node, 'GET', 'models?limit=1'));
    expect(data).toMatchObject([{ id: 'file', source: 'file' }]);
    const other = { project: 'p', key: 'another-secret' };
    const rejected = await send(node, 'POST', 'apply', { models: { file: { displayName: 'x' } }, keys: { 'user-key': other } });
    const { error } = JSON.parse(rejected.text) as { error: { errors: { path: string }[] } };
    expect([rejected.status, error.errors.map(({ path }) => path)]).toEqual([409, ['models.file', 'keys.user-key']]);
  });

  it('is not overwritten if it has changed since it was read', async () => {
    const first = await send(node, 'PUT', 'roles/staff', {});
    const etag = String(first.headers.etag);
    const limits = { '*': { minute: 10 } };
    const writes = await Promise.all([
      send(node, 'PUT', 'roles/staff', { limits }, { 'if-match': etag }),
      send(cluster.nodes[1], 'PUT', 'roles/staff', { costLimit: { day: 1 } }, { 'if-match': etag }),
    ]);
    expect(writes.map(({ status }) => status).sort()).toEqual([200, 412]);
    expect((await send(node, 'PUT', 'roles/staff', {}, { 'if-none-match': '*' })).status).toBe(412);
  });

  it('can be changed by administrators only, and read by auditors', async () => {
    const as = (key: string) => ({ 'api-key': key });
    expect((await send(node, 'GET', 'models/small', undefined, as('auditor-key'))).status).toBe(200);
    expect((await send(node, 'GET', 'models/small', undefined, as('user-key'))).status).toBe(403);
    expect((await send(node, 'PUT', 'models/x', demo, as('auditor-key'))).status).toBe(403);
    expect((await send(node, 'POST', 'apply?dryRun=true', { models: {} }, as('auditor-key'))).status).toBe(200);
    expect((await send(node, 'POST', 'apply', { models: {} }, as('auditor-key'))).status).toBe(403);
  });

  it('is not deleted while other entries need it, unless the deletion is forced', async () => {
    await send(node, 'PUT', 'models/base', demo);
    const properties = { model: 'base', instructions: 'Be brief.', temperature: 0 };
    const quickApp = {
      applicationTypeSchemaId: 'https://parley.example/custom_application_schemas/quickapps',
      applicationProperties: properties,
    };
    expect((await send(node, 'PUT', 'applications/helper', quickApp)).status).toBe(201);
    await send(node, 'PUT', 'models/second', { ...demo, dependencies: ['base'] });
    const rejected = getError(await send(node, 'DELETE', 'models/base'));
    expect(rejected).toMatchObject({ status: 409, code: 'in_use' });
    expect(rejected.message).toContain('applications.helper.applicationProperties.model');
    expect((await send(node, 'DELETE', 'models/base?force=yes')).status).toBe(400);
    expect((await send(node, 'DELETE', 'models/base?force=true')).status).toBe(204);
    // The application is not in force without its model. Other changes remain possible.
    expect((await call(node, 'helper')).status).toBe(404);
    expect((await send(node, 'PUT', 'models/third', demo)).status).toBe(201);
    expect((await send(node, 'PUT', 'models/base', demo)).status).toBe(201);
    expect((await call(node, 'helper')).status).toBe(200);
  });

  it('names the keys that have a deleted role', async () => {
    await send(node, 'PUT', 'roles/night', {});
    await send(node, 'PUT', 'keys/guard', { project: 'p', roles: ['night'], key: 'a-secret-of-the-guard' });
    expect(getError(await send(node, 'DELETE', 'roles/night'))).toMatchObject({ status: 409, code: 'in_use' });
    expect((await send(node, 'DELETE', 'roles/night?force=true')).status).toBe(204);
  });

  it('appears in the audit log and in the changes, without secrets', async () => {
    await send(node, 'PUT', 'models/secretive', {
      upstreams: [{ protocol: 'openai', endpoint: 'https://a.example/v1', key: 'canary-1' }],
    });
    const { data } = read(await send(node, 'GET', 'changes?limit=1'));
    expect(data).toMatchObject([
      { action: 'saved', user: 'key:office', entries: [{ kind: 'models', id: 'secretive', action: 'created' }] },
    ]);
    expect(cluster.audited.at(-1)).toMatchObject({ action: 'entry.created', object: 'models/secretive', subject: 'key:office' });
    expect(JSON.stringify([data, cluster.audited])).not.toContain('canary-1');
  });
});

describe('a secret of an entry', () => {
  const upstream = {
    protocol: 'openai',
    endpoint: 'https://a.example/v1',
    key: 'canary-key',
    headers: { 'x-token': 'canary-header' },
  };
  let cluster: Cluster;
  let node: TestService;
  beforeAll(async () => {
    cluster = await startCluster();
    [node] = cluster.nodes;
  });
  afterAll(() => cluster[Symbol.asyncDispose]());
  const keyInForce = () => cluster.nodes[0].snapshot.current().configuration.models.gpt?.upstreams[0]?.key;

  it('is displayed as ***, also in the export', async () => {
    const created = await send(node, 'PUT', 'models/gpt', { upstreams: [upstream] });
    const hidden = { upstreams: [{ key: '***', headers: { 'x-token': '***' } }] };
    expect(read(created)).toMatchObject(hidden);
    expect(read(await send(node, 'GET', 'export'))).toMatchObject({ models: { gpt: hidden } });
    expect(keyInForce()).toBe('canary-key');
    const rows = await cluster.database.run((kysely) => kysely.selectFrom('runtime_entries').selectAll().execute());
    expect(JSON.stringify(rows)).not.toContain('canary');
  });

  it('stays if it is omitted or ***, and is removed by null', async () => {
    const { key: _key, ...withoutKey } = upstream;
    for (const input of [withoutKey, { ...upstream, key: '***', headers: { 'x-token': '***' } }]) {
      expect(
        (await send(node, 'PUT', 'models/gpt', { displayName: `d${JSON.stringify(input).length}`, upstreams: [input] })).status,
      ).toBe(200);
      expect(keyInForce()).toBe('canary-key');
    }
    expect((await send(node, 'PUT', 'models/gpt', { upstreams: [{ ...upstream, key: null }] })).status).toBe(200);
    expect(keyInForce()).toBeUndefined();
  });

  it('applies to the same address if the input names the default protocol', async () => {
    const { protocol: _protocol, ...withoutProtocol } = upstream;
    await send(node, 'PUT', 'models/gpt', { upstreams: [withoutProtocol] });
    const { key: _key, ...withoutKey } = upstream;
    expect((await send(node, 'PUT', 'models/gpt', { upstreams: [withoutKey] })).status).toBe(200);
    expect(keyInForce()).toBe(upstream.key);
  });

  it('does not apply to another address', async () => {
    await send(node, 'PUT', 'models/gpt', { upstreams: [upstream] });
    for (const key of ['***', undefined]) {
      const moved = { upstreams: [{ protocol: 'openai', endpoint: 'https://attacker.example/v1', key }] };
      const rejected = getError(await send(node, 'PUT', 'models/gpt', moved));
      expect([rejected.status, rejected.param]).toEqual([400, 'models.gpt.upstreams[0].key']);
    }
    expect(getError(await send(node, 'PUT', 'models/new', { upstreams: [{ ...upstream, key: '***' }] })).status).toBe(400);
    const hidden = { upstreams: [{ ...upstream, key: '***' }] };
    const rejected = await send(node, 'POST', 'apply', {
      models: { one: hidden, two: hidden },
      keys: { three: { project: 'p' } },
    });
    const { error } = JSON.parse(rejected.text) as { error: { errors: { path: string }[] } };
    expect(error.errors.map(({ path }) => path)).toEqual([
      'models.one.upstreams[0].key',
      'models.two.upstreams[0].key',
      'keys.three.key',
    ]);
  });
});

describe('a key that is created at run time', () => {
  let cluster: Cluster;
  let node: TestService;
  let upstream: ScriptedUpstream;
  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    const upstreams = [{ protocol: 'openai', endpoint: upstream.endpoint, model: 'm' }];
    cluster = await startCluster({ models: { file: demo, slow: { upstreams } } });
    [node] = cluster.nodes;
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    await upstream.close();
  });

  const create = async (body: object = {}) =>
    read(await send(node, 'POST', 'keys', { project: 'team', ...body })) as never as { id: string; key: string; prefix: string };

  it('is returned once, works on all nodes, and is listed by its prefix', async () => {
    const { id, key, prefix } = await create({ name: 'CI' });
    expect(key.startsWith(prefix)).toBe(true);
    expect((await call(node, 'file', key)).status).toBe(200);
    await until(async () => (await call(cluster.nodes[1], 'file', key)).status === 200);
    const listed = read(await send(node, 'GET', 'keys')).data.find((item) => item.id === id);
    expect(listed).toMatchObject({ id, prefix, name: 'CI', project: 'team', source: 'runtime' });
    expect(JSON.stringify(read(await send(node, 'GET', 'keys')))).not.toContain(key);
  });

  it('is listed in pages, before the keys of users', async () => {
    const ids: unknown[] = [];
    let token = '';
    do {
      const page = read(await send(node, 'GET', `keys?limit=2${token && `&token=${token}`}`));
      expect(page.data.length).toBeLessThanOrEqual(2);
      ids.push(...page.data.map(({ id }) => id));
      token = String(page.nextToken ?? '');
    } while (token !== '');
    expect(ids).toEqual(read(await send(node, 'GET', 'keys?limit=500')).data.map(({ id }) => id));
  });

  it('lists a key of a file whose name is the secret under a number', async () => {
    const text = JSON.stringify(read(await send(node, 'GET', 'keys')));
    expect(text).not.toContain('admin-key');
    expect(text).toContain('"source":"file"');
  });

  it.each(['deleted', 'blocked', 'rotated'])('is rejected on all nodes and its streams end after it is %s', async (how) => {
    const { id, key } = await create();
    await until(async () => (await call(cluster.nodes[1], 'file', key)).status === 200);
    upstream.script(talkOn);
    const stream = await cluster.nodes[1].stream('slow', { messages: [{ role: 'user', content: 'hello' }] }, { 'api-key': key });
    const ended = stream.readRest();
    const { id: _id, source: _source, ...entry } = read(await send(node, 'GET', `keys/${id}`));
    if (how === 'deleted') expect((await send(node, 'DELETE', `keys/${id}`)).status).toBe(204);
    if (how === 'blocked') expect((await send(node, 'PUT', `keys/${id}`, { ...entry, disabled: true })).status).toBe(200);
    if (how === 'rotated') expect((await send(node, 'POST', `keys/${id}/rotate`, {})).status).toBe(200);
    expect((await call(node, 'file', key)).status).toBe(401);
    await until(async () => (await call(cluster.nodes[1], 'file', key)).status === 401);
    expect((await ended).error?.code).toBe('invalid_api_key');
  });

  it('keeps its ID after a rotation, and accepts the previous secret during the overlap', async () => {
    const { id, key } = await create();
    const rotated = read(await send(node, 'POST', `keys/${id}/rotate`, { overlapSeconds: 3600 })) as never as {
      id: string;
      key: string;
    };
    expect(rotated.id).toBe(id);
    expect([(await call(node, 'file', key)).status, (await call(node, 'file', rotated.key)).status]).toEqual([200, 200]);
    const second = read(await send(node, 'POST', `keys/${id}/rotate`, {})) as never as { key: string };
    expect((await call(node, 'file', key)).status).toBe(401);
    expect((await call(node, 'file', rotated.key)).status).toBe(401);
    expect((await call(node, 'file', second.key)).status).toBe(200);
  });

  it('does not become valid again when its deletion is undone', async () => {
    const { id, key } = await create();
    await send(node, 'DELETE', `keys/${id}`);
    const [change] = read(await send(node, 'GET', 'changes?limit=1')).data;
    expect(getError(await send(node, 'POST', `changes/${change?.id}/rollback`)).code).toBe('key_revoked');
    expect((await call(node, 'file', key)).status).toBe(401);
  });

  it('can be created by PUT with a secret of the administrator, which a PUT cannot change', async () => {
    const secret = 'a-long-secret-from-another-gateway';
    expect((await send(node, 'PUT', 'keys/imported', { project: 'team', key: secret })).status).toBe(201);
    expect((await call(node, 'file', secret)).status).toBe(200);
    expect((await send(node, 'PUT', 'keys/imported', { project: 'other' })).status).toBe(200);
    expect((await call(node, 'file', secret)).status).toBe(200);
    expect(getError(await send(node, 'PUT', 'keys/imported', { project: 'team', key: 'another' })).param).toBe(
      'keys.imported.key',
    );
    expect(getError(await send(node, 'PUT', 'keys/without', { project: 'team' })).param).toBe('keys.without.key');
  });
});

describe('the last administrator', () => {
  it('cannot be removed', async () => {
    await using stored = await openResponses('SQLite');
    await using first = await startCluster({}, { opened: stored });
    const key = 'a-secret-of-an-administrator';
    await send(first.nodes[0], 'PUT', 'keys/chief', { project: 'office', roles: ['admin'], key });
    await using second = await startCluster({ keys: { 'user-key': { project: 'user' } } }, { opened: stored });
    const remove = () => send(second.nodes[0], 'DELETE', 'keys/chief', undefined, { 'api-key': key });
    expect(getError(await remove())).toMatchObject({ status: 409, code: 'last_administrator' });
    const deputy = { project: 'office', roles: ['admin'], key: 'a-secret-of-a-deputy' };
    await send(second.nodes[0], 'PUT', 'keys/deputy', deputy, { 'api-key': key });
    expect((await remove()).status).toBe(204);
  });
});

describe('a document', () => {
  const document = {
    models: { one: demo, two: { ...demo, displayName: 'Two' } },
    roles: { staff: { limits: { one: { minute: 100 } } } },
    keys: { ci: { project: 'team', key: 'a-secret-of-the-pipeline' } },
  };
  let cluster: Cluster;
  let node: TestService;
  beforeAll(async () => {
    cluster = await startCluster();
    [node] = cluster.nodes;
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it('is only compared in a dry run', async () => {
    const { data, dryRun, change } = read(await send(node, 'POST', 'apply?dryRun=true', document));
    expect([dryRun, change, data.map(({ kind, id, action }) => `${action} ${kind}/${id}`)]).toEqual([
      true,
      null,
      ['created models/one', 'created models/two', 'created roles/staff', 'created keys/ci'],
    ]);
    expect((await send(node, 'GET', 'models/one')).status).toBe(404);
  });

  it('is applied completely or not at all, and only once', async () => {
    const invalid = { ...document, roles: { staff: { limits: { one: { minute: 'many' } } } } };
    expect(getError(await send(node, 'POST', 'apply', invalid)).param).toBe('roles.staff.limits.one.minute');
    expect((await send(node, 'GET', 'models/one')).status).toBe(404);
    expect(read(await send(node, 'POST', 'apply', document)).data).toHaveLength(4);
    const again = read(await send(node, 'POST', 'apply', document));
    expect([again.change, again.data]).toEqual([null, []]);
    expect((await call(node, 'two', 'a-secret-of-the-pipeline')).status).toBe(200);
  });

  it('lists differences by path', async () => {
    const changed = { models: { two: { ...demo, displayName: 'Second' } } };
    const { data } = read(await send(node, 'POST', 'apply?dryRun=true', changed));
    expect(data).toEqual([
      {
        ...{ kind: 'models', id: 'two', action: 'updated' },
        differences: [{ path: 'models.two.displayName', before: 'Two', after: 'Second' }],
      },
    ]);
  });

  it('that is exported can be applied without a change, and on an empty instance with its secrets', async () => {
    const exported = read(await send(node, 'GET', 'export'));
    expect(read(await send(node, 'POST', 'apply', exported)).data).toEqual([]);
    await using other = await startCluster();
    expect(read(await send(other.nodes[0], 'POST', 'apply', exported)).data).toHaveLength(4);
    expect(read(await send(other.nodes[0], 'GET', 'export'))).toEqual(exported);
    expect((await call(other.nodes[0], 'one', 'a-secret-of-the-pipeline')).status).toBe(200);
  });

  it('that is pruned deletes the entries that its own sections lack, except keys that Parley created', async () => {
    const { id } = read(await send(node, 'POST', 'keys', { project: 'team' })) as never as { id: string };
    const { data } = read(await send(node, 'POST', 'apply?prune=true', { models: { one: demo }, keys: {} }));
    expect(data.map(({ id: deleted }) => deleted).sort()).toEqual(['ci', 'two']);
    expect((await send(node, 'GET', `keys/${id}`)).status).toBe(200);
    expect((await send(node, 'GET', 'roles/staff')).status).toBe(200);
  });

  it.each([
    [{ security: { maxBodyBytes: 1 } }, 'security'],
    [{ models: [] }, 'models'],
    [{ models: { x: 1 } }, 'models.x'],
    [{ identityProviders: {}, 'identity-providers': {} }, 'identity-providers'],
  ])('with %j is rejected', async (invalid, param) => {
    expect(getError(await send(node, 'POST', 'apply', invalid))).toMatchObject({ status: 400, param });
  });
});

describe('a change', () => {
  it('can be undone exactly once, unless a later change affected the same entry', async () => {
    await using cluster = await startCluster();
    const [node] = cluster.nodes;
    const latest = async () => read(await send(node, 'GET', 'changes?limit=1')).data[0]?.id;
    await send(node, 'PUT', 'models/m', { ...demo, displayName: 'First' });
    await send(node, 'PUT', 'models/m', { ...demo, displayName: 'Second' });
    const second = await latest();
    expect((await send(node, 'POST', `changes/${second}/rollback`)).status).toBe(200);
    expect(read(await send(node, 'GET', 'models/m')).displayName).toBe('First');
    expect(read(await send(node, 'GET', 'changes?limit=1')).data).toMatchObject([{ action: 'rolled_back', undoes: second }]);
    expect(getError(await send(node, 'POST', `changes/${second}/rollback`)).code).toBe('change_overwritten');
    expect((await send(node, 'POST', 'changes/unknown/rollback')).status).toBe(404);
  });
});

describe('a large change', () => {
  it('is listed with its first entries and their number, and read completely', async () => {
    await using cluster = await startCluster();
    const [node] = cluster.nodes;
    const models = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`model-${index}`, demo]));
    const { change } = read(await send(node, 'POST', 'apply', { models }));
    const list = async () => read(await send(node, 'GET', 'changes')).data;
    const [listed] = await list();
    const complete = read(await send(node, 'GET', `changes/${change}`)) as { entries?: object[] };
    expect([listed?.entryCount, complete.entries?.length]).toEqual([30, 30]);
    expect(listed).toEqual({ ...complete, entries: complete.entries?.slice(0, 20) });
    const earlierVersion = { write_count: null, sealed_first_writes: null };
    await cluster.database.run((kysely) => kysely.updateTable('runtime_changes').set(earlierVersion).execute());
    expect(await list()).toEqual([listed]);
    expect((await send(node, 'POST', `changes/${change}/rollback`)).status).toBe(200);
  });
});

describe('a changed file', () => {
  it('takes precedence over entries, and leaves out entries that are no longer valid', async () => {
    await using cluster = await startCluster();
    const [node] = cluster.nodes;
    const keys = { 'admin-key': { project: 'office', role: 'admin' } };
    await send(node, 'PUT', 'models/shared', { ...demo, displayName: 'Run time' });
    await send(node, 'PUT', 'applications/app', { endpoint: 'https://app.example/chat' });
    node.reload({ keys, models: { shared: { ...demo, displayName: 'File' }, app: demo } });
    expect(read(await send(node, 'GET', 'models/shared'))).toMatchObject({ source: 'file', displayName: 'File' });
    expect((await call(node, 'app')).status).toBe(200);
    const pruned = read(await send(node, 'POST', 'apply?prune=true', { models: {} }));
    expect(pruned.data).toEqual([]);
    node.reload({ keys, models: { file: demo } });
    expect(read(await send(node, 'GET', 'models/shared'))).toMatchObject({ source: 'runtime', displayName: 'Run time' });
  });

  it('can leave its entries to run time', async () => {
    await using cluster = await startCluster();
    const [node] = cluster.nodes;
    expect((await send(node, 'POST', 'models/file/migrate')).status).toBe(200);
    node.reload({ keys: { 'admin-key': { project: 'office', role: 'admin' } } });
    expect(read(await send(node, 'GET', 'models/file'))).toMatchObject({ source: 'runtime' });
    expect((await call(node, 'file')).status).toBe(200);
  });
});

it('entries are in force after a restart', async () => {
  await using stored = await openResponses('SQLite');
  {
    await using cluster = await startCluster({}, { opened: stored });
    await send(cluster.nodes[0], 'PUT', 'models/kept', demo);
  }
  await using cluster = await startCluster({}, { opened: stored });
  expect((await call(cluster.nodes[0], 'kept')).status).toBe(200);
});
