import { AzureOpenAI } from 'openai';
import { describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply } from '#test/scripted-upstream.ts';
import { startModel } from '#test/start-model.ts';
import { callerKey, startService, withKey } from '#test/start-service.ts';

const { upstream, service } = await startModel(jsonReply(plainCompletion('hi')));

const post = (path: string, body: object) => service.sendRequest({ path, headers: withKey(), body });
const get = (path: string) => service.sendRequest({ method: 'GET', path, headers: withKey() });

describe('/openai/v1', () => {
  it.each(['', '?api-version=preview', '?api-version=2024-10-21', '?other=1'])(
    'answers like /v1, with the query %j',
    async (query) => {
      const body = { model: 'm', messages: hello };
      const answer = await post(`/openai/v1/chat/completions${query}`, body);
      expect(answer.status).toBe(200);
      expect({ ...answer.completion, created: 0 }).toEqual({
        ...(await post('/v1/chat/completions', body)).completion,
        created: 0,
      });
    },
  );

  it('lists the same models as /v1', async () => {
    for (const path of ['/models', '/models/m', '/models/none'])
      expect((await get(`/openai/v1${path}`)).json).toEqual((await get(`/v1${path}`)).json);
    expect((await get('/openai/v1/models/m')).status).toBe(200);
  });

  it('returns embeddings', async () => {
    await using other = await startService({ models: { v: { type: 'embedding', upstreams: [{ protocol: 'demo' }] } } });
    for (const [path, body] of [
      ['/openai/v1/embeddings', { model: 'v', input: 'a' }],
      ['/openai/v1/deployments/v/embeddings?api-version=preview', { model: 'v', input: 'a' }],
    ] as const) {
      const answer = await other.sendRequest({ path, headers: withKey(), body });
      expect([answer.status, answer.json]).toMatchObject([200, { data: [{ object: 'embedding' }] }]);
    }
  });

  it('works as the base URL of the Azure client', async () => {
    const client = new AzureOpenAI({
      apiKey: callerKey,
      baseURL: `${service.url}/openai/v1`,
      apiVersion: 'preview',
      maxRetries: 0,
    });
    const reply = await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] });
    expect(reply.choices[0]?.message.content).toBe('hi');
    expect(upstream.requests.at(-1)?.body.model).toBe('m');
  });

  it.each([
    '/openai/v1',
    '/openai/v1/batches',
    '/openai/v1/deployments',
    '/openai/v1/deployments/m',
    '/openai/v1/deployments/m/other',
    '/compat/v1/chat/completions',
  ])('has no route %s', async (path) => {
    const answer = await post(path, { model: 'm', messages: hello });
    expect([answer.status, answer.error.code]).toEqual([404, 'route_not_found']);
  });

  it('rejects GET for POST routes', async () => {
    const answer = await get('/openai/v1/chat/completions');
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
  });
});

describe('unknown deployment', () => {
  const chat = { model: 'none', messages: hello };
  it.each([
    ['/v1/chat/completions', chat, 'model_not_found'],
    ['/v1/embeddings', { model: 'none', input: 'a' }, 'model_not_found'],
    ['/openai/v1/chat/completions', chat, 'model_not_found'],
    ['/openai/v1/embeddings', { model: 'none', input: 'a' }, 'model_not_found'],
    ['/openai/v1/deployments/none/chat/completions', chat, 'DeploymentNotFound'],
    ['/openai/deployments/none/chat/completions?api-version=preview', chat, 'DeploymentNotFound'],
    ['/openai/deployments/none/embeddings', { input: 'a' }, 'DeploymentNotFound'],
    ['/compat/deployments/none/chat/completions/2024-10-21', chat, 'DeploymentNotFound'],
    ['/compat/deployments/a%2F..%2Fb/chat/completions/2024-10-21', chat, 'DeploymentNotFound'],
    ['/v1/deployments/none/mcp', {}, 'deployment_not_found'],
  ])('on %s returns the error code that its clients expect', async (path, body, code) => {
    for (const stream of [false, true]) {
      const { status, error } = await post(path, { ...body, stream });
      expect([status, error.type, error.code]).toEqual([404, 'not_found_error', code]);
    }
  });

  it.each([
    ['/openai/deployments/none', 'DeploymentNotFound'],
    ['/openai/models/none', 'deployment_not_found'],
    ['/v1/models/none', 'deployment_not_found'],
    ['/v1/deployments/none/limits', 'deployment_not_found'],
    ['/v1/consent/none', 'deployment_not_found'],
  ])('at %s returns the code %s', async (path, code) => {
    expect((await get(path)).error.code).toBe(code);
  });
});

describe('generated ID', () => {
  it('contains only letters, so that clients do not mistake a number in it for a status', async () => {
    for (let nth = 0; nth < 50; nth += 1) {
      const answer = await post('/v1/chat/completions', { model: 'none', messages: hello });
      expect(answer.headers['x-request-id']).toMatch(/^[a-z-]{36}$/);
    }
    upstream.script(jsonReply(plainCompletion('hi', { id: undefined })));
    expect((await post('/v1/chat/completions', { model: 'm', messages: hello })).completion.id).toMatch(/^chatcmpl-[a-z-]{36}$/);
    upstream.script(jsonReply(plainCompletion('hi')));
  });
});
