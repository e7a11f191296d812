import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { delta, finish, plainReply, text } from '#test/chunks.ts';
import { errorReply, eventsReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { callerKey, startService, type TestService } from '#test/start-service.ts';
import { origin } from './support.ts';

const body = { model: 'm', max_tokens: 10, messages: [{ role: 'user' as const, content: 'Hi' }] };
const preflight = { origin, 'access-control-request-headers': 'x-api-key,content-type' };
const cors = {
  'access-control-allow-origin': origin,
  'access-control-allow-credentials': 'true',
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-max-age': '86400',
  vary: 'Origin',
};

/** Starts a service with a model of a scripted upstream, and the gateway with these settings. */
async function startMounted(addin: object = {}) {
  const upstream = await startScriptedUpstream(eventsReply(...plainReply('Hello')));
  const createConfiguration = (settings: object) => ({
    models: { m: { upstreams: [{ endpoint: upstream.endpoint }] } },
    addin: { enabled: true, ...settings },
  });
  const service = await startService(createConfiguration(addin));
  const close = async (): Promise<void> => {
    await service.close();
    await upstream.close();
  };
  const reload = (settings: object): void => service.reload(createConfiguration(settings));
  return { service, upstream, reload, [Symbol.asyncDispose]: close };
}

function post(service: TestService, path = '/addin/msgapi/v1/messages', headers: Record<string, string> = {}) {
  const allHeaders = { origin, 'x-api-key': callerKey, 'content-type': 'application/json', ...headers };
  return service.sendRequest({ path, headers: allHeaders, body });
}

describe('the add-in gateway mounted in the service', () => {
  it('forwards messages to the service with the key from x-api-key', async () => {
    await using mounted = await startMounted();
    const { status, headers, json } = await post(mounted.service);
    expect([status, headers]).toMatchObject([200, cors]);
    expect(json).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'Hello' }] });
    expect((await post(mounted.service, '/msgapi/v1/messages')).status).toBe(401);
  });

  it('streams each event as soon as it arrives', async () => {
    await using mounted = await startMounted();
    const continueStream = Promise.withResolvers<void>();
    mounted.upstream.script(async (exchange) => {
      exchange.head();
      await exchange.events(delta({ role: 'assistant', content: 'before' }));
      await continueStream.promise;
      await exchange.events(text(', after'), finish());
      exchange.done();
    });
    const response = await fetch(`${mounted.service.url}/addin/msgapi/v1/messages`, {
      method: 'POST',
      headers: { origin, 'x-api-key': callerKey, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, stream: true }),
    });
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let read = '';
    while (!read.includes('before')) read += (await reader?.read())?.value ?? '';
    continueStream.resolve();
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) read += piece.value;
    expect(read).toMatch(/after[\s\S]*message_stop/);
  });

  it('adds the CORS headers to every response', async () => {
    await using mounted = await startMounted();
    const { service, upstream } = mounted;
    upstream.script(errorReply(400));
    const requests: [string, string, Record<string, string>, number][] = [
      ['OPTIONS', '/addin/msgapi/v1/messages', {}, 204],
      ['OPTIONS', '/addin', {}, 204],
      ['GET', '/addin/msgapi/v1/models', {}, 200],
      ['GET', '/addin', {}, 404],
      ['POST', '/addin/v1/chat/completions', {}, 404],
      ['GET', '/addin/../v1/models', {}, 404],
      ['GET', '/addin/%zz', {}, 404],
      ['GET', '/addin/msgapi/v1/%80', {}, 404],
      ['GET', '/addin/msgapi/v1/a%20b', {}, 404],
      ['POST', `/addin/msgapi/v1/${'a'.repeat(8_000)}`, {}, 404],
      ['POST', '/addin/msgapi/v1/nothing', {}, 404],
      ['GET', '/addin/msgapi/v1/messages', {}, 405],
      ['DELETE', '/addin/msgapi/v1/messages', {}, 405],
      ['POST', '/addin/msgapi/v1/messages', { 'x-api-key': '' }, 401],
      ['POST', '/addin/msgapi/v1/messages', { 'x-api-key': 'wrong' }, 401],
      ['POST', '/addin/msgapi/v1/messages', { 'content-type': 'text/plain' }, 415],
      ['POST', '/addin/msgapi/v1/messages', {}, 400],
    ];
    for (const [method, path, headers, status] of requests) {
      const allHeaders = { ...preflight, 'x-api-key': callerKey, 'content-type': 'application/json', ...headers };
      const answer = await service.sendRequest({ method, path, headers: allHeaders, body: method === 'POST' ? body : undefined });
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.headers).toMatchObject({ ...cors, 'access-control-allow-headers': 'x-api-key,content-type' });
      if (status >= 400) expect(answer.json).toMatchObject({ type: 'error', error: { type: expect.any(String) } });
    }
  });

  it('adds no CORS headers to other paths of the service', async () => {
    await using mounted = await startMounted();
    for (const path of ['/v1/models', '/addins/msgapi/v1/models', '/msgapi/v1/models']) {
      const { headers } = await mounted.service.sendRequest({ method: 'GET', path, headers: { origin, 'api-key': callerKey } });
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    }
  });

  it('accepts a bearer token as the key, and ignores cookies', async () => {
    await using mounted = await startMounted();
    const { status } = await post(mounted.service, undefined, {
      'x-api-key': '',
      authorization: `Bearer ${callerKey}`,
      cookie: 'a=b',
    });
    expect(status).toBe(200);
    const client = new Anthropic({
      apiKey: callerKey,
      baseURL: `${mounted.service.url}/addin/msgapi`,
      dangerouslyAllowBrowser: true,
    });
    expect((await client.messages.create(body)).content).toMatchObject([{ text: 'Hello' }]);
  });

  it('applies a changed configuration from the next request on', async () => {
    const models = [{ id: 'm', display_name: 'M' }];
    await using mounted = await startMounted({ prefix: '/office/add-in', models, allowedOrigins: [origin] });
    const { service, reload } = mounted;
    const list = (prefix: string, from = origin) =>
      service.sendRequest({ method: 'GET', path: `${prefix}/msgapi/v1/models`, headers: { origin: from } });
    expect((await list('/office/add-in')).json).toMatchObject({ data: [{ id: 'm', object: 'model', display_name: 'M' }] });
    expect((await list('/office/add-in', 'https://evil.example')).status).toBe(403);
    expect((await list('/addin')).headers).not.toHaveProperty('access-control-allow-origin');
    reload({});
    expect((await list('/addin', 'https://evil.example')).json).toMatchObject({ data: [] });
    expect((await list('/office/add-in')).headers).not.toHaveProperty('access-control-allow-origin');
    reload({ enabled: false });
    const off = await list('/addin');
    expect([off.status, off.headers['access-control-allow-origin']]).toEqual([404, undefined]);
  });
});
