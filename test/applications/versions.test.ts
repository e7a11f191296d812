import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import { startScriptedUpstream } from '#test/scripted-upstream.ts';
import { type AuditEvent, startService, type TestService, withKey } from '#test/start-service.ts';
import { getApplicationPath, getProjectBucket, ownBucket, quickApp, remove, save, show } from './support.ts';

const audited: AuditEvent[] = [];
const configuration = {
  models: { demo: { upstreams: [{ protocol: 'demo' }] }, other: { upstreams: [{ protocol: 'demo' }] } },
  keys: { 'caller-key': { project: 'test' }, staff: { project: 'staff', role: 'staff' } },
};
let service: TestService;

beforeAll(async () => {
  service = await startService(configuration, { recordAudit: (event) => audited.push(event) });
});

afterAll(() => service.close());

const getVersionsPath = (name: string, query = ''): string => `/v1/versions/applications/${ownBucket}/${name}${query}`;

interface ListedVersion {
  readonly version: number;
  readonly etag: string;
  readonly savedAt: number;
}

async function list(name: string): Promise<readonly ListedVersion[]> {
  return ((await show(service, getVersionsPath(name))).json as { data: ListedVersion[] }).data;
}

function restore(name: string, query: string, headers: Record<string, string> = {}) {
  return service.sendRequest({ method: 'POST', path: getVersionsPath(name, query), headers: { ...withKey(), ...headers } });
}

/** Returns an application with a web API that has this secret and this URL. */
function createSecretApp(key: string, url = 'https://shop.example/items') {
  const tool = {
    rest_api_method_info: { method_url: url, method_type: 'get' },
    open_ai_tool: { type: 'function', function: { name: 'find', description: 'Finds', parameters: { type: 'object' } } },
  };
  const authorization = { type: 'api_key', name: 'X-Shop', location: 'header', key };
  return quickApp({ web_api_toolset: [{ type: 'rest-api', name: 'Shop', authorization, tools: [tool] }] });
}

describe('the versions of an application', () => {
  it('list every saved state, newest first', async () => {
    const first = await save(service, getApplicationPath('team/a b'.replace(' ', '%20')), quickApp({ instructions: 'One.' }));
    await save(service, getApplicationPath('team/a%20b'), quickApp({ instructions: 'Two.' }));
    const versions = await list('team/a%20b');
    expect(versions.map(({ version }) => version)).toEqual([2, 1]);
    const created = first.json as { etag: string; createdAt: number };
    expect(versions.at(-1)).toEqual({ version: 1, etag: created.etag, savedAt: created.createdAt });
    const firstVersion = await show(service, getVersionsPath('team/a%20b', '?version=1'));
    expect(firstVersion.json).toEqual({ ...(first.json as object), version: 1 });
    const secondVersion = await show(service, getVersionsPath('team/a%20b', '?version=2'));
    expect(secondVersion.json).toEqual({
      ...((await show(service, getApplicationPath('team/a%20b'))).json as object),
      version: 2,
    });
  });

  it('are deleted with the application, and a new application starts with version 1', async () => {
    await save(service, getApplicationPath('short'), quickApp({ instructions: 'canary-of-the-deleted' }));
    await save(service, getApplicationPath('short'), quickApp());
    await remove(service, getApplicationPath('short'));
    for (const query of ['', '?version=1']) expect((await show(service, getVersionsPath('short', query))).status).toBe(404);
    await save(service, getApplicationPath('short'), quickApp());
    expect((await list('short')).map(({ version }) => version)).toEqual([1]);
  });

  it('are not created by rejected saves', async () => {
    const { headers } = await save(service, getApplicationPath('kept'), quickApp());
    await save(service, getApplicationPath('kept'), quickApp({ temperature: 9 }));
    await save(service, getApplicationPath('kept'), quickApp(), { 'if-match': '"another"' });
    await save(service, getApplicationPath('kept'), quickApp(), { 'if-none-match': headers.etag as string });
    expect(await list('kept')).toHaveLength(1);
  });

  it.each(['?version=0', '?version=-1', '?version=1.5', '?version=', '?version=x', '?version=99999999999', '?version=%00'])(
    'cannot be selected with %s',
    async (query) => {
      await save(service, getApplicationPath('numbered'), quickApp());
      for (const answer of [await show(service, getVersionsPath('numbered', query)), await restore('numbered', query)]) {
        expect([answer.status, answer.error.param]).toEqual([400, 'version']);
      }
    },
  );

  it.each(['', '..', 'a//b', 'none', '__proto__', 'none?version=1'])('return 404 if they do not exist: %s', async (name) => {
    for (const answer of [
      await show(service, getVersionsPath(name)),
      await restore(name, name.includes('?') ? '' : '?version=1'),
    ]) {
      expect([answer.status, answer.error.code]).toEqual([404, 'deployment_not_found']);
    }
  });

  it('can be read only by the owner', async () => {
    await save(service, getApplicationPath('shared'), { ...quickApp(), userRoles: ['staff'] });
    const path = getVersionsPath('shared', '?version=1');
    for (const method of ['GET', 'POST']) {
      const denied = await service.sendRequest({ method, path, headers: { 'api-key': 'staff' } });
      expect([denied.status, denied.error.code]).toEqual([403, 'access_denied']);
      expect((await service.sendRequest({ method, path })).status).toBe(401);
    }
    const otherPath = `/v1/versions/applications/${getProjectBucket('staff')}/none`;
    expect((await show(service, otherPath)).status).toBe(403);
  });
});

describe('a restored version', () => {
  it('is active as a new version, with the present access', async () => {
    await save(service, getApplicationPath('back'), quickApp({ instructions: 'One.' }, { userRoles: ['default'] }));
    const second = await save(service, getApplicationPath('back'), quickApp({ instructions: 'Two.' }, { userRoles: ['staff'] }));
    audited.length = 0;
    const response = await restore('back', '?version=1', { 'if-match': second.headers.etag as string });
    expect([response.status, response.headers.etag]).toEqual([200, `"${(response.json as ListedVersion).etag}"`]);
    expect(response.json).toMatchObject(quickApp({ instructions: 'One.' }, { userRoles: ['staff'] }));
    expect((await show(service, getApplicationPath('back'))).json).toEqual(response.json);
    expect((await list('back')).map(({ version }) => version)).toEqual([3, 2, 1]);
    const staffList = (await show(service, '/openai/applications', 'staff')).json as { data: { id: string }[] };
    expect(staffList.data.map(({ id }) => id)).toContain(`applications/${ownBucket}/back`);
    const common = {
      action: 'application.saved',
      subject: 'key:test',
      object: `applications/${ownBucket}/back`,
      requestId: expect.any(String),
    };
    expect(audited).toEqual([{ ...common, details: { restored: 1 } }]);
  });

  it('does not overwrite a newer version, and does not restore a deleted application', async () => {
    const { headers } = await save(service, getApplicationPath('raced'), quickApp({ instructions: 'One.' }));
    await save(service, getApplicationPath('raced'), quickApp({ instructions: 'Two.' }));
    expect((await restore('raced', '?version=1', { 'if-match': headers.etag as string })).status).toBe(412);
    expect((await restore('raced', '?version=7')).error.message).toMatch(/^Version 7 of the application does not exist/);
    expect(await list('raced')).toHaveLength(2);
    await remove(service, getApplicationPath('raced'));
    expect((await restore('raced', '?version=1')).status).toBe(404);
    expect((await show(service, getApplicationPath('raced'))).status).toBe(404);
  });

  it('is rejected if it has become invalid', async () => {
    await using ownService = await startService(configuration);
    await save(ownService, getApplicationPath('aged'), quickApp({ model: 'other' }));
    await save(ownService, getApplicationPath('aged'), quickApp({ model: 'demo' }));
    ownService.reload({ ...configuration, models: { demo: configuration.models.demo } });
    const answer = await ownService.sendRequest({
      method: 'POST',
      path: getVersionsPath('aged', '?version=1'),
      headers: withKey(),
    });
    expect([answer.status, answer.error.param]).toEqual([400, 'applicationProperties.model']);
  });

  it('has its old secrets, which are masked', async () => {
    await using shop = await startScriptedUpstream();
    shop.script(({ response }) => void response.end('found'));
    await using ownService = await startService({ ...configuration, security: { allowPrivateNetworks: ['127.0.0.1'] } });
    const url = `${shop.url}/items`;
    await save(ownService, getApplicationPath('secret'), createSecretApp('canary-of-the-first', url));
    await save(ownService, getApplicationPath('secret'), createSecretApp('canary-of-the-second', url));
    await save(ownService, getApplicationPath('secret'), { ...quickApp(), displayName: 'Without' });
    const responses = [
      await show(ownService, getVersionsPath('secret', '?version=1')),
      await ownService.sendRequest({ method: 'POST', path: getVersionsPath('secret', '?version=1'), headers: withKey() }),
      await show(ownService, getVersionsPath('secret')),
      await show(ownService, getApplicationPath('secret')),
    ];
    for (const { status, text } of responses) {
      expect(status).toBe(200);
      expect(text).not.toContain('canary');
    }
    expect(responses[0]?.json).toMatchObject(createSecretApp('***', url));
    await ownService.chat(`applications/${ownBucket}/secret`, { messages: [{ role: 'user', content: 'Call find' }] });
    expect(shop.requests.map(({ headers }) => headers['x-shop'])).toEqual(['canary-of-the-first']);
  });
});

it('an application may name at most 100 roles and 100 users', async () => {
  const listNames = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  const createApp = (count: number) => ({ ...quickApp(), userRoles: listNames('role', count) });
  expect((await save(service, getApplicationPath('wide'), createApp(100))).status).toBe(201);
  const { status, error } = await save(service, getApplicationPath('wide'), createApp(101));
  expect([status, error.param]).toEqual([400, 'userRoles']);
  const wider = await save(service, getApplicationPath('wide'), { ...createApp(101), users: listNames('user', 101) });
  expect(wider.error.message).toBe('userRoles must have at most 100 entries; users must have at most 100 entries.');
  expect((await service.chat(`applications/${ownBucket}/wide`, { messages: hello })).status).toBe(200);
});
