import { describe, expect, it } from 'vitest';
import { errorReply, jsonReply, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { messagesPath, origin, startGateway } from './support.ts';

function getCorsHeaders({ headers }: TestResponse): Record<string, unknown> {
  const names = Object.keys(headers).filter((name) => name.startsWith('access-control-') || name === 'vary');
  return Object.fromEntries(names.map((name) => [name, headers[name]]));
}

const corsHeaders = {
  'access-control-allow-origin': origin,
  'access-control-allow-credentials': 'true',
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-max-age': '86400',
  vary: 'Origin',
};

describe('rule 1: paths', () => {
  it('forwards requests under /msgapi/v1/ with their query', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({ id: 'reply' }));
    await using gateway = await startGateway(upstream.url);
    for (const path of [messagesPath, '/msgapi/v1/messages/count_tokens?beta=true&x=%2F', '/msgapi/v1/models/a%20b']) {
      expect((await gateway.ask({ path, body: '{}' })).json).toEqual({ id: 'reply' });
      expect(upstream.requests.at(-1)?.path).toBe(path);
    }
  });

  it('prefixes the path of the upstream base URL', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(`${upstream.url}/base/`);
    await gateway.post();
    expect(upstream.requests[0]?.path).toBe(`/base${messagesPath}`);
  });

  it.each([
    '/',
    '/msgapi',
    '/msgapi/v1',
    '/msgapi/v2/messages',
    '/msgapi/v1x/messages',
    '/Msgapi/v1/messages',
    '//msgapi/v1/messages',
    '/v1/messages',
    '/compat/deployments/m/chat/completions/2024-10-21',
    '/msgapi/v1/../x',
    '/msgapi/v1/..',
    '/msgapi/v1/./messages',
    '/msgapi/v1/..;/x',
    '/msgapi/v1//messages',
    '/msgapi/v1/messages//',
    '/msgapi/v1/%2e%2e/x',
    '/msgapi/v1/.%2E/x',
    '/msgapi/v1/%252e%252e/x',
    '/msgapi/v1/..%2fx',
    '/msgapi/v1/..%5cx',
    '/msgapi/v1/..\\x',
    '/msgapi/v1/\\..\\x',
    '/msgapi/v1/messages%00',
    '/msgapi/v1/messages%0d%0aX:y',
    '/msgapi/v1/messages%',
    '/msgapi/v1/messages%zz',
    '/msgapi/v1/%80',
    '/msgapi/v1/caf%C3%A9',
    '/msgapi/v1/messages#x',
    '/%6dsgapi/v1/messages',
    '/msgapi/../msgapi/v1/messages',
    '/msgapi%2fv1/messages',
    'http://other.example/msgapi/v1/messages',
    '*',
  ])('returns 404 for %s and does not forward the request', async (path) => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(upstream.url);
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await gateway.ask({ method, path, headers: { origin } });
      expect([answer.status, getCorsHeaders(answer)]).toEqual([404, corsHeaders]);
      expect(answer.json).toMatchObject({ type: 'error', error: { type: 'not_found_error' } });
    }
    expect(upstream.requests).toEqual([]);
  });

  it.each(['PUT', 'DELETE', 'PATCH', 'HEAD', 'TRACE', 'PROPFIND'])('returns 405 for %s', async (method) => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(upstream.url);
    const answer = await gateway.ask({ method, path: messagesPath, headers: { origin } });
    expect([answer.status, answer.headers.allow, getCorsHeaders(answer)]).toEqual([405, 'GET, POST, OPTIONS', corsHeaders]);
    expect(upstream.requests).toEqual([]);
  });
});

describe('rule 2: the CORS headers', () => {
  const requested = { 'access-control-request-headers': 'X-Api-Key,content-type, msgapi-version' };

  it('are on every response: preflight, reply, error, list, and rejection', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}), errorReply(429), errorReply(500));
    await using gateway = await startGateway(upstream.url);
    const requests = [
      { method: 'OPTIONS', path: messagesPath },
      { path: messagesPath, body: '{}' },
      { path: messagesPath, body: '{}' },
      { path: messagesPath, body: '{}' },
      { method: 'GET', path: '/msgapi/v1/models' },
      { method: 'GET', path: '/elsewhere' },
      { method: 'PUT', path: messagesPath },
    ];
    const statuses: number[] = [];
    for (const request of requests) {
      const answer = await gateway.ask({ ...request, headers: { origin, ...requested } });
      statuses.push(answer.status);
      expect(getCorsHeaders(answer)).toEqual({
        ...corsHeaders,
        'access-control-allow-headers': requested['access-control-request-headers'],
      });
    }
    expect(statuses).toEqual([204, 200, 429, 500, 200, 404, 405]);
  });

  it('replace those of the upstream', async () => {
    await using upstream = await startScriptedUpstream(
      jsonReply({}, 200, {
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Allow-Credentials': 'false',
        'Access-Control-Expose-Headers': 'x-request-id',
        'access-control-anything': 'else',
        vary: 'origin, Accept-Encoding',
      }),
    );
    await using gateway = await startGateway(upstream.url);
    expect(getCorsHeaders(await gateway.post())).toEqual({ ...corsHeaders, vary: 'Origin, Accept-Encoding' });
  });

  it('echo the origin "null", and omit Allow-Origin for a client without an Origin', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(upstream.url);
    expect(getCorsHeaders(await gateway.post({ origin: 'null' }))).toEqual({
      ...corsHeaders,
      'access-control-allow-origin': 'null',
    });
    const { 'access-control-allow-origin': _none, ...rest } = corsHeaders;
    expect(getCorsHeaders(await gateway.ask({ path: messagesPath, body: '{}' }))).toEqual(rest);
  });
});

describe('rule 3: the preflight', () => {
  it.each([messagesPath, '/', '/elsewhere', '/msgapi/v1/../x', '*'])('returns 204 without a body for %s', async (path) => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(upstream.url);
    const answer = await gateway.ask({ method: 'OPTIONS', path, headers: { origin } });
    expect([answer.status, answer.text, answer.headers['content-length'], getCorsHeaders(answer)]).toEqual([
      204,
      '',
      undefined,
      corsHeaders,
    ]);
    expect(upstream.requests).toEqual([]);
  });
});

describe('rule 4: the key', () => {
  const forwardKey = async (headers: Record<string, string>) => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(upstream.url);
    await gateway.ask({ path: messagesPath, headers, body: '{}' });
    const { 'api-key': apiKey, 'x-api-key': xApiKey, authorization } = upstream.requests[0]?.headers ?? {};
    return { apiKey, xApiKey, authorization };
  };

  it('is forwarded as Api-Key, with an empty x-api-key', async () => {
    expect(await forwardKey({ 'x-api-key': 'k1' })).toEqual({ apiKey: 'k1', xApiKey: '', authorization: undefined });
    expect(await forwardKey({ 'X-API-KEY': 'k1', 'Api-Key': 'other' })).toMatchObject({ apiKey: 'k1', xApiKey: '' });
  });

  it('is the bearer token if x-api-key is absent or empty, and Authorization is never forwarded', async () => {
    const noCredentials = { xApiKey: '', authorization: undefined };
    expect(await forwardKey({ authorization: 'Bearer k2' })).toEqual({ apiKey: 'k2', ...noCredentials });
    expect(await forwardKey({ authorization: 'bearer k2', 'x-api-key': '' })).toEqual({ apiKey: 'k2', ...noCredentials });
    expect(await forwardKey({ authorization: 'Bearer k2', 'x-api-key': 'k1' })).toEqual({ apiKey: 'k1', ...noCredentials });
    expect(await forwardKey({ authorization: 'Basic dTpw' })).toEqual({ apiKey: undefined, ...noCredentials });
    expect(await forwardKey({})).toEqual({ apiKey: undefined, ...noCredentials });
  });

  it('is the Api-Key of the client if no other credentials exist', async () => {
    expect(await forwardKey({ 'Api-Key': 'k3' })).toMatchObject({ apiKey: 'k3', xApiKey: '' });
  });
});

describe('rule 6: the models', () => {
  const models = [
    { id: 'gpt', display_name: 'GPT' },
    { id: '__proto__', display_name: 'Größe' },
  ];

  it('are listed by the gateway itself', async () => {
    await using upstream = await startScriptedUpstream(jsonReply({}));
    await using gateway = await startGateway(upstream.url, { models });
    for (const path of ['/msgapi/v1/models', '/msgapi/v1/models?limit=1000']) {
      const { status, headers, json } = await gateway.ask({ method: 'GET', path });
      expect([status, headers['content-type']]).toEqual([200, 'application/json']);
      expect(json).toEqual({ data: models.map((model) => ({ ...model, object: 'model' })), object: 'list', has_more: false });
    }
    expect(upstream.requests).toEqual([]);
  });

  it('can be an empty list', async () => {
    await using gateway = await startGateway('http://127.0.0.1:9');
    const { text } = await gateway.ask({ method: 'GET', path: '/msgapi/v1/models' });
    expect(text).toBe('{"data":[],"object":"list","has_more":false}');
  });

  it('do not affect other paths and methods, which are forwarded', async () => {
    await using upstream = await startScriptedUpstream(errorReply(404));
    await using gateway = await startGateway(upstream.url, { models });
    await gateway.ask({ method: 'GET', path: '/msgapi/v1/models/gpt' });
    await gateway.ask({ method: 'POST', path: '/msgapi/v1/models' });
    expect(upstream.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /msgapi/v1/models/gpt',
      'POST /msgapi/v1/models',
    ]);
  });
});
