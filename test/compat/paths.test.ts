import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import type { TestResponse } from '#test/send-request.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';

const ids = [
  'm',
  'team/gpt 4/latest',
  'a%2Fb',
  'ünï-模型',
  'constructor',
  'with.dots..in',
  'q?u#e',
  'chat/completions',
  'x/embeddings',
];

let upstream: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  upstream = await startScriptedUpstream(({ received, response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const vectors = {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [1] }],
      usage: { prompt_tokens: 3, total_tokens: 3 },
    };
    response.end(JSON.stringify(received.path.includes('embeddings') ? vectors : plainCompletion('hi')));
  });
  const upstreams = [{ endpoint: upstream.endpoint }];
  service = await startService({
    models: {
      ...Object.fromEntries(ids.map((id) => [id, { upstreams: [{ endpoint: upstream.endpoint, model: `upstream of ${id}` }] }])),
      vectors: { type: 'embedding', upstreams },
    },
  });
});

afterAll(async () => {
  await service.close();
  await upstream.close();
});

function post(path: string, body: unknown = { messages: hello }): Promise<TestResponse> {
  return service.sendRequest({ path, headers: withKey(), body });
}

/** Returns the model of the last upstream request. */
function getLastModel(): unknown {
  return upstream.requests.at(-1)?.body.model;
}

describe('path of a chat completion', () => {
  it.each([
    '/compat/deployments/m/chat/completions/2024-10-21',
    '/compat/deployments/m/chat/completions?api-version=2024-10-21',
    '/openai/deployments/m/chat/completions',
    '/openai/deployments/m/chat/completions?api-version=2024-10-21',
    '/openai/deployments/m/chat/completions/2024-10-21',
  ])('%s selects the deployment of the path and ignores the model in the body', async (path) => {
    expect((await post(path, { messages: hello, model: 'vectors' })).status).toBe(200);
    expect(getLastModel()).toBe('upstream of m');
  });

  it('/v1/chat/completions selects the deployment of the body', async () => {
    expect((await post('/v1/chat/completions', { messages: hello, model: 'team/gpt 4/latest' })).status).toBe(200);
    expect(getLastModel()).toBe('upstream of team/gpt 4/latest');
  });

  it.each([
    '/compat/deployments/m/chat/completion/2024-10-21',
    '/compat/deployments/m/chat/completions/2024-10-21/more',
    '/compat/deployments/chat/completions/2024-10-21',
    '/compat/deployment/m/chat/completions/2024-10-21',
    '/Compat/deployments/m/chat/completions/2024-10-21',
    '/v1/chat/completions/',
    '/compat/deployments/m%2/chat/completions/2024-10-21',
    '/compat/deployments/m%C0%AE/chat/completions/2024-10-21',
    '/compat/deployments/m/chat/completions/%E0%A4%A',
    '/v1/chat/completions/2024-10-21',
    '/nothing',
  ])('%s is not found', async (path) => {
    const answer = await post(path);
    expect(answer.status).toBe(404);
    expect(Object.keys(answer.error).sort()).toEqual(['code', 'message', 'param', 'type']);
  });

  it('can have a configured prefix instead of openai', async () => {
    await using aliased = await startService({
      models: { demo: { upstreams: [{ protocol: 'demo' }] } },
      aliases: { compat: ['vendor'] },
    });
    const request = { headers: withKey(), body: { messages: hello } };
    expect((await aliased.sendRequest({ path: '/vendor/deployments/demo/chat/completions', ...request })).status).toBe(200);
    expect((await aliased.sendRequest({ path: '/openai/deployments/demo/chat/completions', ...request })).status).toBe(404);
  });
});

describe('path of embeddings', () => {
  it.each([
    ['/compat/deployments/vectors/embeddings/2024-10-21', { input: 'a' }],
    ['/openai/deployments/vectors/embeddings?api-version=2024-10-21', { input: 'a', model: 'm' }],
    ['/openai/deployments/vectors/embeddings', { input: ['a'] }],
    ['/v1/embeddings', { input: 'a', model: 'vectors' }],
  ])('%s calls the model', async (path, body) => {
    const answer = await post(path, body);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ object: 'list', data: [{ embedding: [1] }], usage: { prompt_tokens: 3 } });
    expect(upstream.requests.at(-1)?.path).toBe('/v1/embeddings');
    expect(getLastModel()).toBe('vectors');
  });

  it('treats null as absent', async () => {
    const nulls = { model: null, encoding_format: null, dimensions: null, user: null };
    expect((await post('/openai/deployments/vectors/embeddings', { input: 'a', ...nulls })).status).toBe(200);
    expect(upstream.requests.at(-1)?.body).toEqual({ input: 'a', model: 'vectors' });
  });

  it('rejects an operation that the deployment does not support', async () => {
    const chat = await post('/openai/deployments/vectors/chat/completions');
    expect([chat.status, chat.error.code]).toEqual([400, 'operation_not_supported']);
    const embeddings = await post('/openai/deployments/m/embeddings', { input: 'a' });
    expect([embeddings.status, embeddings.error.code]).toEqual([400, 'operation_not_supported']);
  });

  it('validates the body and the version', async () => {
    const body = await post('/openai/deployments/vectors/embeddings', { input: 3 });
    expect([body.status, body.error.param]).toEqual([400, 'input']);
    expect((await post('/compat/deployments/vectors/embeddings', { input: 'a' })).error.code).toBe('invalid_api_version');
  });
});

describe('api_version', () => {
  const postWithVersion = (version: string, prefix = 'compat') => post(`/${prefix}/deployments/m/chat/completions/${version}`);

  it.each(['2024-10-21', '2024-02-29', '2000-02-29', '2024-12-31', '2024-10-21-preview', '2099-01-01', '2024%2D10-21'])(
    'can be %s',
    async (version) => {
      expect((await postWithVersion(version)).status).toBe(200);
    },
  );

  it.each([
    '2023-02-29',
    '1900-02-29',
    '2024-13-01',
    '2024-00-10',
    '2024-04-31',
    '2024-1-1',
    '24-10-21',
    '2024-10-21-beta',
    '2024-10-21-preview-2',
    'latest',
    '',
    '2024-10-21%0A',
    '٢٠٢٤-10-21',
  ])('cannot be %j', async (version) => {
    const path = encodeURI(version).replaceAll('%25', '%');
    // The version is optional on /openai, so an empty one is an extra slash.
    for (const prefix of version === '' ? ['compat'] : ['compat', 'openai']) {
      const answer = await postWithVersion(path, prefix);
      expect([answer.status, answer.error.code, answer.error.param]).toEqual([400, 'invalid_api_version', 'api_version']);
    }
  });

  it('is required on /compat and optional on /openai', async () => {
    expect((await post('/compat/deployments/m/chat/completions')).error.code).toBe('invalid_api_version');
    expect((await post('/openai/deployments/m/chat/completions')).status).toBe(200);
  });

  it.each(['preview', 'latest', 'v1', '2025-04-01-preview', '2024-02-30', 'a_b.c'])(
    'can be the word %s in the query',
    async (word) => {
      for (const prefix of ['compat', 'openai']) {
        expect((await post(`/${prefix}/deployments/m/chat/completions?api-version=${word}`)).status).toBe(200);
      }
    },
  );

  it.each(['', 'a b', 'a%2Fb', '%00', 'é'])('cannot be %j in the query', async (word) => {
    const answer = await post(`/openai/deployments/m/chat/completions?api-version=${encodeURI(word).replaceAll('%25', '%')}`);
    expect([answer.status, answer.error.code, answer.error.param]).toEqual([400, 'invalid_api_version', 'api_version']);
  });
});

describe('deployment ID', () => {
  it.each(ids)('%j is found with one level of percent-encoding', async (id) => {
    const segments = id.split('/').map(encodeURIComponent).join('/');
    for (const encoded of [segments, encodeURIComponent(id)]) {
      const answer = await post(`/compat/deployments/${encoded}/chat/completions/2024-10-21`);
      expect(answer.status).toBe(200);
      expect(getLastModel()).toBe(`upstream of ${id}`);
    }
  });

  it.each([
    ['encoded twice', 'team%252Fgpt%25204%252Flatest'],
    ['a dot segment', 'team/./m'],
    ['a parent segment', 'team/../m'],
    ['an encoded parent segment', 'team/%2e%2e/m'],
    ['a parent segment after an encoded slash', 'team%2F..%2Fm'],
    ['a parent segment encoded twice', '%252e%252e/m'],
    ['an empty segment', 'team//m'],
    ['a leading empty segment', '/m'],
    ['an encoded empty segment', 'team%2F%2Fm'],
    ['NUL', 'm%00'],
    ['a line break', 'm%0D%0A'],
    ['__proto__', '__proto__'],
    ['toString', 'toString'],
    ['another case', 'M'],
    ['trailing white space', 'm%20'],
    ['a backslash', 'team%5Cm'],
    ['1,025 characters', 'x'.repeat(1_025)],
    ['8,000 characters', 'x'.repeat(8_000)],
  ])('with %s is not found', async (_what, encoded) => {
    const answer = await post(`/compat/deployments/${encoded}/chat/completions/2024-10-21`);
    expect([answer.status, answer.error.type, answer.error.code]).toEqual([404, 'not_found_error', 'DeploymentNotFound']);
  });
});
