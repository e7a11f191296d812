import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import { plainCompletion } from '#test/chunks.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream, type UpstreamExchange } from '#test/scripted-upstream.ts';
import { callerKey, getChatPath, startService, type TestService, withKey } from '#test/start-service.ts';
import { getApplicationPath, getProjectBucket, ownBucket, quickApp, remove, save, show } from './support.ts';

const hello = [{ role: 'user', content: 'Hello' }];
let host: ScriptedUpstream;
let service: TestService;

const staff = { 'api-key': 'staff' };
const otherHeaders = { 'api-key': 'other' };

beforeAll(async () => {
  host = await startScriptedUpstream(jsonReply(plainCompletion('from the application')));
  service = await startService({
    models: { demo: { upstreams: [{ protocol: 'demo' }] }, closed: { upstreams: [{ protocol: 'demo' }], userRoles: ['staff'] } },
    applications: { outer: { endpoint: `${host.url}/outer` } },
    keys: {
      'caller-key': { project: 'test' },
      twin: { project: 'test', role: 'twin' },
      staff: { project: 'staff', role: 'staff' },
      other: { project: 'other' },
    },
    security: { allowPrivateNetworks: ['127.0.0.1'] },
  });
  await save(service, getApplicationPath('private'), quickApp());
  await save(
    service,
    getApplicationPath('shared'),
    quickApp({ instructions: 'inner words' }, { displayName: 'Shared', userRoles: ['staff'] }),
  );
});

afterAll(async () => {
  await service.close();
  await host.close();
});

const getId = (name: string): string => `applications/${ownBucket}/${name}`;

describe('an application of another user', () => {
  it('returns 403, whether or not it exists', async () => {
    for (const name of ['private', 'shared', 'never']) {
      for (const answer of [
        await show(service, getApplicationPath(name), 'other'),
        await save(service, getApplicationPath(name), quickApp(), otherHeaders),
        await remove(service, getApplicationPath(name), otherHeaders),
      ]) {
        expect([answer.status, answer.error.code]).toEqual([403, 'access_denied']);
        expect(answer.error.message).not.toContain(name);
      }
    }
    expect((await show(service, getApplicationPath(''), 'other')).status).toBe(403);
  });

  it('is readable without its settings for the roles it names, and only its owner can change it', async () => {
    const { status, json, text } = await show(service, getApplicationPath('shared'), 'staff');
    expect([status, json]).toMatchObject([200, { id: getId('shared'), displayName: 'Shared' }]);
    expect(text).not.toMatch(/inner words|applicationProperties|userRoles/);
    expect((await save(service, getApplicationPath('shared'), quickApp(), staff)).status).toBe(403);
    expect((await remove(service, getApplicationPath('shared'), staff)).status).toBe(403);
  });

  it('can be called only by these roles', async () => {
    expect((await service.chat(getId('shared'), { messages: hello }, staff)).status).toBe(200);
    expect((await service.chat(getId('shared'), { messages: hello }, otherHeaders)).error.code).toBe('access_denied');
    expect((await service.chat(getId('private'), { messages: hello }, staff)).error.code).toBe('access_denied');
  });

  it('gives its users no access to a model that they cannot use', async () => {
    const closed = quickApp({ model: 'closed' }, { userRoles: ['default'] });
    const rejected = await save(service, getApplicationPath('closed'), closed);
    expect([rejected.status, rejected.error.param]).toEqual([400, 'applicationProperties.model']);
    const created = await save(service, getApplicationPath('open', getProjectBucket('staff')), closed, staff);
    expect(created.status).toBe(201);
    const callResponse = await service.chat(`applications/${getProjectBucket('staff')}/open`, { messages: hello }, otherHeaders);
    expect([callResponse.status, callResponse.error.code]).toEqual([403, 'access_denied']);
  });
});

describe('an owner', () => {
  it('can use every key of the project', async () => {
    expect((await show(service, getApplicationPath('private'), 'twin')).json).toMatchObject(quickApp());
  });

  it('lists only its own applications, in order', async () => {
    const { json } = await show(service, getApplicationPath(''));
    expect(json).toMatchObject({ object: 'list', data: [{ id: getId('private') }, { id: getId('shared') }] });
    const bare = `/v1/applications/${ownBucket}`;
    expect((await show(service, bare)).json).toEqual(json);
  });

  it('must send a key', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expect((await service.sendRequest({ method, path: getApplicationPath('private') })).error.code).toBe('missing_credentials');
    }
  });
});

describe('a per-request key', () => {
  it('cannot read or change applications, including those of its user', async () => {
    const answers: number[] = [];
    host.script(async (exchange: UpstreamExchange) => {
      const headers = withKey(String(exchange.received.headers['api-key']));
      const sendRequest = (method: string, path: string) => service.sendRequest({ method, path, headers, body: quickApp() });
      for (const method of ['GET', 'PUT', 'DELETE'])
        answers.push((await sendRequest(method, getApplicationPath('private'))).status);
      answers.push((await sendRequest('GET', getApplicationPath(''))).status);
      await jsonReply(plainCompletion('done'))(exchange);
    });
    expect((await service.chat('outer', { messages: hello })).status).toBe(200);
    expect(answers).toEqual([403, 403, 403, 403]);
  });
});

describe('the endpoint of a saved application', () => {
  it('is called with a per-request key and the unchanged request', async () => {
    host.script(jsonReply(plainCompletion('from mine')));
    await save(service, getApplicationPath('mine'), { endpoint: `${host.url}/mine?x=1` });
    const answer = await service.chat(getId('mine'), { messages: hello });
    expect(answer.completion.choices[0]?.message.content).toBe('from mine');
    const lastRequest = host.requests.at(-1);
    expect([lastRequest?.path, lastRequest?.body.messages]).toEqual(['/mine?x=1', hello]);
    expect(lastRequest?.headers['api-key']).not.toBe('caller-key');
  });

  it('is not called if its host name resolves to a blocked address', async () => {
    const reached: string[] = [];
    const server = createServer((request, response) => {
      reached.push(String(request.url));
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    await using ownService = await startService({ models: { demo: { upstreams: [{ protocol: 'demo' }] } } });
    // The host name does not reveal its address. The network guard blocks the address after the lookup.
    expect((await save(ownService, getApplicationPath('local'), { endpoint: `http://localhost:${port}/` })).status).toBe(201);
    const answer = await ownService.chat(getId('local'), { messages: hello });
    expect([answer.status, answer.error.type, reached]).toEqual([500, 'upstream_error', []]);
    server.close();
  });

  it('is called again immediately after the configuration allows its address', async () => {
    await using ownService = await startService({ security: { allowPrivateNetworks: ['127.0.0.1'] } });
    const before = host.requests.length;
    await save(ownService, getApplicationPath('local'), { endpoint: `${host.url}/local` });
    ownService.reload({});
    expect((await ownService.chat(getId('local'), { messages: hello })).status).toBe(500);
    expect(host.requests).toHaveLength(before);
    ownService.reload({ security: { allowPrivateNetworks: ['127.0.0.0/8'] } });
    expect((await ownService.chat(getId('local'), { messages: hello })).status).toBe(200);
  });

  it('is paused after failures, and stays paused across a reload', async () => {
    const keys = { [callerKey]: { project: 'test' }, 'other-key': { project: 'other' } };
    const configuration = { keys, security: { allowPrivateNetworks: ['127.0.0.1'] } };
    await using ownService = await startService(configuration, { clock: { ...systemClock, nowMs: () => 1 } });
    await using failing = await startScriptedUpstream(jsonReply({ error: { message: 'broken' } }, 500));
    await save(ownService, getApplicationPath('failing'), { endpoint: `${failing.url}/failing`, userRoles: ['default'] });
    const call = async (key = callerKey): Promise<number> =>
      (await ownService.chat(getId('failing'), { messages: hello }, { 'api-key': key })).status;
    expect([await call(), await call('other-key'), await call()]).toEqual([500, 500, 503]);
    ownService.reload(configuration);
    expect([await call(), failing.requests.length]).toEqual([503, 2]);
  });

  it('is called without the network guard for a configured application', async () => {
    await using ownService = await startService({ applications: { configured: { endpoint: `${host.url}/configured` } } });
    const { status } = await ownService.sendRequest({
      path: getChatPath('configured'),
      headers: withKey(),
      body: { messages: hello },
    });
    expect(status).toBe(200);
  });
});
