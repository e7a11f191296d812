import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import { callerKey, getChatPath, startService, type TestService, withKey } from '#test/start-service.ts';

const page = 'https://app.example';
const other = 'https://other.example';
const models = { m: { upstreams: [{ protocol: 'demo' }] } };
const corsNames = (answer: TestResponse): string[] =>
  Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'));

let closed: TestService;
let listed: TestService;
let open: TestService;

beforeAll(async () => {
  closed = await startService({ models });
  listed = await startService({
    models,
    security: { allowedOrigins: [page] },
    addin: { enabled: true, allowedOrigins: [other] },
  });
  open = await startService({ models, security: { allowedOrigins: ['*'] } });
});

afterAll(() => Promise.all([closed.close(), listed.close(), open.close()]));

function get(service: TestService, origin: string | undefined, path = '/v1/models'): Promise<TestResponse> {
  return service.sendRequest({ method: 'GET', path, headers: { 'api-key': callerKey, ...(origin && { origin }) } });
}

function preflight(service: TestService, origin: string, path = '/v1/chat/completions'): Promise<TestResponse> {
  const requestHeaders = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'api-key,content-type' };
  return service.sendRequest({ method: 'OPTIONS', path, headers: { origin, ...requestHeaders } });
}

describe('service without allowed origins', () => {
  it('sends no CORS headers', async () => {
    for (const answer of [
      await get(closed, page),
      await preflight(closed, page),
      await closed.chat('m', { messages: hello }, { origin: page }),
    ])
      expect([corsNames(answer), answer.headers.vary ?? '']).toEqual([[], expect.not.stringContaining('Origin')]);
    expect((await preflight(closed, page)).status).toBe(204);
  });
});

describe('allowed origin', () => {
  it('can read responses of every handler', async () => {
    const answers = [
      await get(listed, page),
      await get(listed, page, '/v1/models/none'),
      await get(listed, page, '/nowhere'),
      await listed.chat('m', { messages: hello }, { origin: page }),
      await listed.chat('m', { messages: hello, stream: true }, { origin: page }),
      await listed.chat('m', { messages: 3 }, { origin: page }),
      await listed.sendRequest({
        path: '/anthropic/v1/messages',
        headers: { ...withKey(), origin: page },
        body: { model: 'm', max_tokens: 9, messages: hello },
      }),
      await listed.sendRequest({ path: '/v1/chat/completions', headers: { ...withKey('unknown'), origin: page }, body: {} }),
    ];
    for (const { headers } of answers) {
      expect(headers).toMatchObject({ 'access-control-allow-origin': page, 'access-control-allow-credentials': 'true' });
      expect(headers.vary).toMatch(/^Origin/);
      expect(String(headers['access-control-expose-headers']).toLowerCase()).toMatch(/retry-after.*x-request-id/);
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 404, 200, 200, 400, 200, 401]);
  });

  it('receives the methods of the path from a preflight', async () => {
    const { status, headers, text } = await preflight(listed, page);
    expect([status, text]).toEqual([204, '']);
    expect(headers).toMatchObject({
      allow: 'POST',
      'access-control-allow-origin': page,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'api-key,content-type',
      vary: 'Origin',
    });
    expect(Number(headers['access-control-max-age'])).toBeGreaterThan(0);
  });

  it('can read all headers that start with X-', async () => {
    const limits = { roles: { default: { limits: { m: { requestDay: 5 } } } } };
    await using service = await startService({ models, ...limits, security: { allowedOrigins: [page] } });
    const { headers } = await service.chat('m', { messages: hello }, { origin: page });
    const names = Object.keys(headers).filter((name) => name.startsWith('x-'));
    expect(names).toContain('x-ratelimit-remaining-requests');
    const exposedHeaders = String(headers['access-control-expose-headers']).toLowerCase().split(', ');
    expect(exposedHeaders).toEqual(expect.arrayContaining(names));
  });
});

describe('origin that is not allowed', () => {
  it('receives no CORS headers, so that browsers hide the response', async () => {
    for (const answer of [
      await get(listed, other),
      await preflight(listed, other),
      await get(listed, undefined),
      await get(listed, 'null'),
    ])
      expect([corsNames(answer), answer.headers.vary]).toEqual([[], expect.stringMatching(/^Origin(,|$)/)]);
    expect((await get(listed, other)).status).toBe(200);
  });

  it('follows the rules of the add-in gateway for its prefix', async () => {
    const requestHeaders = { method: 'OPTIONS', path: '/addin/msgapi/v1/messages' };
    const toOther = await listed.sendRequest({ ...requestHeaders, headers: { origin: other } });
    expect(toOther.headers['access-control-allow-origin']).toBe(other);
    const toPage = await listed.sendRequest({ ...requestHeaders, headers: { origin: page } });
    expect(toPage.headers['access-control-allow-origin']).toBeUndefined();
  });
});

describe('any origin', () => {
  it('can read answers without browser credentials if * is allowed', async () => {
    for (const origin of [page, other, 'null']) {
      const answer = await get(open, origin);
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
      expect((await preflight(open, origin)).headers['access-control-allow-origin']).toBe('*');
    }
  });
});

describe('MCP paths', () => {
  const path = '/v1/deployments/m/mcp';
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

  it('answer pages of allowed origins only', async () => {
    const from = (service: TestService, origin: string) => service.sendRequest({ path, headers: { ...withKey(), origin }, body });
    expect((await from(listed, page)).status).toBe(200);
    expect((await from(listed, other)).status).toBe(403);
    expect((await from(open, other)).status).toBe(200);
    expect((await from(closed, page)).status).toBe(403);
  });
});

describe('configuration change', () => {
  it('applies to the next request', async () => {
    await using service = await startService({ models });
    expect(corsNames(await get(service, page))).toEqual([]);
    service.reload({ models, security: { allowedOrigins: [page] } });
    expect((await get(service, page)).headers['access-control-allow-origin']).toBe(page);
  });
});

describe('OPTIONS without an origin', () => {
  it.each([
    ['/v1/models', 'GET, HEAD'],
    ['/v1/deployments/m/limits', 'GET, HEAD'],
    ['/v1/deployments/m/mcp', 'POST'],
    ['/openai/deployments/team/m', 'GET, HEAD'],
    ['/openai/deployments/team/m/chat/completions?api-version=2024-10-21', 'POST'],
    ['/openai/deployments/m/embeddings/2024-10-21', 'POST'],
    [getChatPath('m'), 'POST'],
    ['/compat/deployments/m/chat/completions', 'POST'],
    ['/v1/consent/team/m', 'DELETE, GET, HEAD, POST'],
    ['/v1/applications/bucket/', 'GET, HEAD'],
    ['/v1/applications/bucket/a/b', 'DELETE, GET, HEAD, PUT'],
  ])('reports the methods of %s: %s', async (path, allow) => {
    const answer = await sendRequest(closed.url, { method: 'OPTIONS', path });
    expect([answer.status, answer.headers.allow, answer.text]).toEqual([204, allow, '']);
  });

  it('returns 404 for an unknown path', async () => {
    expect((await sendRequest(closed.url, { method: 'OPTIONS', path: '/v1/deployments/m/nothing' })).status).toBe(404);
  });
});
