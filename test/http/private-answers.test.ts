import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestRequest, TestResponse } from '#test/send-request.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';

let upstream: ScriptedUpstream;
let service: TestService;
let open: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
  const configuration = {
    models: {
      m: { upstreams: [{ endpoint: upstream.endpoint }] },
      demo: { upstreams: [{ protocol: 'demo' }] },
      vectors: { type: 'embedding', upstreams: [{ protocol: 'demo' }] },
    },
  };
  service = await startService(configuration);
  open = await startService({ ...configuration, security: { allowedOrigins: ['https://page.example'], maxBodyBytes: 5000 } });
});

afterAll(async () => {
  await service.close();
  await open.close();
  await upstream.close();
});

const post = (path: string, body: unknown, more = {}): TestRequest => ({ path, headers: { ...withKey(), ...more }, body });
const get = (path: string, headers: Readonly<Record<string, string>> = { 'api-key': 'caller-key' }): TestRequest => ({
  method: 'GET',
  path,
  headers,
});
const chat = (model: string, more: object = {}) => ({ model, max_tokens: 9, messages: hello, ...more });

const requests: readonly (readonly [status: number, asking: TestRequest])[] = [
  [200, get('/v1/user/info')],
  [200, get('/v1/models')],
  [200, get('/v1/consent')],
  [200, get('/v1/deployments/demo/limits')],
  [401, get('/v1/models', {})],
  [401, get('/v1/models', { 'api-key': 'nobody' })],
  [404, get('/v1/models/none')],
  [404, get('/nowhere')],
  [405, { ...get('/v1/models'), method: 'DELETE' }],
  [200, post('/v1/chat/completions', chat('m'))],
  [200, post('/v1/chat/completions?x=%20', chat('m'))],
  [200, post('/v1/chat/completions', chat('demo', { stream: true }))],
  [404, post('/v1/chat/completions', chat('none'))],
  [400, post('/v1/chat/completions', '{')],
  [415, post('/v1/chat/completions', '{}', { 'content-type': 'text/plain' })],
  [401, post('/v1/chat/completions', chat('m'), { 'api-key': 'nobody' })],
  [200, post('/anthropic/v1/messages', chat('m'))],
  [200, post('/anthropic/v1/messages', chat('demo', { stream: true }))],
  [200, post('/v1/embeddings', { model: 'vectors', input: 'x' })],
  [200, post('/v1/deployments/demo/tokenize', { inputs: [{ type: 'string', value: 'x' }] })],
  [202, post('/v1/deployments/demo/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' })],
];

function pickHeaders({ headers }: TestResponse): unknown {
  return [headers['cache-control'], headers.vary, headers['x-content-type-options']];
}

describe('response that depends on the caller', () => {
  it.each(requests.map(([status, request]) => [request.method ?? 'POST', request.path, status, request] as const))(
    'cannot be cached for other callers or sniffed: %s %s %i',
    async (_method, _path, status, request) => {
      const answer = await service.sendRequest(request);
      expect(answer.status).toBe(status);
      const caching = expect.stringMatching(/^private, no-store/);
      expect(pickHeaders(answer)).toEqual([caching, 'Authorization, Api-Key, X-Api-Key', 'nosniff']);
    },
  );

  it('also varies by origin if an origin is allowed', async () => {
    const origin = { origin: 'https://page.example' };
    const large = post('/v1/chat/completions', chat('m', { user: 'x'.repeat(6000) }), origin);
    for (const request of [
      get('/v1/models', { ...withKey(), ...origin }),
      post('/v1/chat/completions', chat('m'), origin),
      large,
    ])
      expect(pickHeaders(await open.sendRequest(request))).toEqual([
        'private, no-store',
        'Origin, Authorization, Api-Key, X-Api-Key',
        'nosniff',
      ]);
  });
});

describe('response that is equal for all callers', () => {
  it('is not marked as private', async () => {
    for (const path of ['/v1/sign-in']) {
      const { headers } = await service.sendRequest(get(path, {}));
      expect([path, headers['cache-control'], headers['x-content-type-options']]).toEqual([
        path,
        expect.not.stringContaining('private'),
        'nosniff',
      ]);
    }
  });
});
