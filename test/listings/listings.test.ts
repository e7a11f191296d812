import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello } from '#test/chunks.ts';
import type { TestResponse } from '#test/send-request.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';

const upstreams = [{ protocol: 'demo' }];
let service: TestService;

beforeAll(async () => {
  service = await startService({
    models: {
      open: {
        upstreams,
        displayName: 'Open',
        displayVersion: '2',
        description: 'For all',
        iconUrl: 'https://x.example/i.svg',
        limits: { maxTotalTokens: 1000, maxPromptTokens: 800, maxCompletionTokens: 200 },
        pricing: { prompt: 0.001, completion: 0.002 },
        inputAttachmentTypes: ['image/*'],
        maxInputAttachments: 3,
        features: { vision: true },
      },
      bare: { upstreams },
      'team/vectors 1': { type: 'embedding', upstreams },
      staffed: { upstreams, userRoles: ['staff', 'admin'] },
      nobodys: { upstreams, userRoles: [] },
    },
    applications: {
      app: { endpoint: 'http://127.0.0.1:9/app', displayName: 'App', features: { consentRequired: true } },
      'staff-app': { endpoint: 'http://127.0.0.1:9/app', userRoles: ['staff'] },
    },
    keys: { user: { project: 'p' }, staff: { project: 'p', role: 'staff' }, several: { project: 'p', roles: ['x', 'admin'] } },
  });
});

afterAll(() => service.close());

function get(path: string, key = 'user'): Promise<TestResponse> {
  return service.sendRequest({ method: 'GET', path, headers: { 'api-key': key } });
}

async function listIds(path: string, key?: string): Promise<string[]> {
  const { json, status } = await get(path, key);
  expect(status).toBe(200);
  const list = json as { object: string; data: { id: string }[] };
  expect(Object.keys(list).sort()).toEqual(['data', 'object']);
  expect(list.object).toBe('list');
  return list.data.map(({ id }) => id);
}

describe('a listing', () => {
  it.each(['openai', 'compat'])('contains the deployments that the caller may use, below /%s', async (prefix) => {
    expect(await listIds(`/${prefix}/deployments`)).toEqual(['open', 'bare', 'team/vectors 1', 'app']);
    expect(await listIds(`/${prefix}/models`)).toEqual(['open', 'bare', 'team/vectors 1']);
    expect(await listIds(`/${prefix}/applications`)).toEqual(['app']);
  });

  it.each([
    ['/openai/deployments/nope/chat/completions', {}],
    ['/v1/chat/completions', { model: 'nope' }],
    ['/v1/embeddings', { model: 'nope', input: 'x' }],
    ['/msgapi/v1/messages', { model: 'nope', max_tokens: 1 }],
  ])('is named in the error for an unknown deployment at %s', async (path, fields) => {
    const { status, error } = await service.sendRequest({ path, headers: withKey('user'), body: { messages: hello, ...fields } });
    expect([status, error.message]).toEqual([404, 'There is no deployment nope. GET /v1/models lists yours.']);
  });

  it('contains models and applications at /v1/models', async () => {
    expect(await listIds('/v1/models')).toEqual(['open', 'bare', 'team/vectors 1', 'app']);
  });

  it('hides deployments that require a role from callers without it, and shows them to callers with it', async () => {
    expect(await listIds('/openai/deployments', 'staff')).toEqual([
      'open',
      'bare',
      'team/vectors 1',
      'staffed',
      'app',
      'staff-app',
    ]);
    expect(await listIds('/openai/models', 'several')).toEqual(['open', 'bare', 'team/vectors 1', 'staffed']);
  });

  it('contains all configured fields of a model', async () => {
    const { json } = await get('/openai/models/open');
    expect(json).toMatchObject({
      id: 'open',
      object: 'model',
      display_name: 'Open',
      display_version: '2',
      description: 'For all',
      icon_url: 'https://x.example/i.svg',
      status: 'succeeded',
      features: { vision: true, consentRequired: false },
      input_attachment_types: ['image/*'],
      max_input_attachments: 3,
      capabilities: { chat_completion: true, embeddings: false },
      limits: { max_total_tokens: 1000, max_prompt_tokens: 800, max_completion_tokens: 200 },
      pricing: { unit: 'token', prompt: '0.001', completion: '0.002' },
    });
    const item = json as { owner: string; created_at: number; updated_at: number };
    expect(item.owner).toBeTypeOf('string');
    expect(Number.isInteger(item.created_at) && Number.isInteger(item.updated_at)).toBe(true);
  });

  it('has display names with versions at /v1/models, where pages of other vendors read them', async () => {
    const { json } = await get('/v1/models');
    const names = (json as { data: { id: string; name: string }[] }).data.map(({ id, name }) => [id, name]);
    expect(Object.fromEntries(names)).toMatchObject({ open: 'Open 2', bare: 'bare' });
    expect((await get('/v1/models/open')).json).toMatchObject({ name: 'Open 2' });
    expect((await get('/openai/models/open')).json).not.toHaveProperty('name');
  });

  it('contains no null values, upstreams, or keys', async () => {
    const { json, text } = await get('/openai/models/bare');
    expect(json).toMatchObject({ id: 'bare', display_name: 'bare', object: 'model' });
    expect(text).not.toMatch(/null|upstream|endpoint/);
  });

  it('separates applications from models', async () => {
    expect((await get('/openai/applications/app')).json).toMatchObject({
      id: 'app',
      object: 'application',
      features: { consentRequired: true },
    });
    expect((await get('/openai/deployments/app')).json).toMatchObject({ id: 'app', object: 'deployment', model: 'app' });
    expect((await get('/openai/models/app')).status).toBe(404);
    expect((await get('/openai/applications/open')).status).toBe(404);
    expect((await get('/openai/deployments/app')).status).toBe(200);
    expect((await get('/v1/models/app')).status).toBe(200);
  });

  it.each(['team/vectors%201', 'team%2Fvectors%201'])('finds the ID %s', async (id) => {
    expect((await get(`/openai/models/${id}`)).json).toMatchObject({
      id: 'team/vectors 1',
      capabilities: { chat_completion: false, embeddings: true },
    });
  });

  it.each(['none', '__proto__', 'team', 'team/../open', '%2e%2e', 'open%00', 'OPEN', 'team%252Fvectors 1'])(
    'does not find the ID %s',
    async (id) => {
      for (const base of ['/openai/models', '/openai/deployments', '/v1/models']) {
        const answer = await get(`${base}/${id.replaceAll(' ', '%20')}`);
        const code = base === '/openai/deployments' ? 'DeploymentNotFound' : 'deployment_not_found';
        expect([answer.status, answer.error.code]).toEqual([404, code]);
      }
    },
  );

  it('requires a key', async () => {
    expect((await service.sendRequest({ method: 'GET', path: '/v1/models' })).error.code).toBe('missing_credentials');
    expect((await get('/v1/models', 'unknown')).error.code).toBe('invalid_api_key');
  });

  it('answers HEAD without a body', async () => {
    const answer = await service.sendRequest({ method: 'HEAD', path: '/v1/models', headers: { 'api-key': 'user' } });
    expect([answer.status, answer.text]).toEqual([200, '']);
  });
});

describe('a deployment that requires a role', () => {
  it('is rejected in calls and in listings for callers without the role', async () => {
    for (const [id, key, status] of [
      ['staffed', 'user', 403],
      ['nobodys', 'staff', 403],
      ['staffed', 'staff', 200],
      ['staffed', 'several', 200],
    ] as const) {
      const answer = await service.chat(id, { messages: hello }, { 'api-key': key });
      expect([id, key, answer.status]).toEqual([id, key, status]);
      expect((await get(`/openai/models/${id}`, key)).status).toBe(status);
      if (status === 403) expect(answer.error).toMatchObject({ type: 'permission_error', code: 'access_denied' });
    }
  });

  it('uses a new configuration immediately', async () => {
    await using ownService = await startService({ models: { m: { upstreams, userRoles: ['staff'] } } });
    expect((await ownService.chat('m', { messages: hello })).status).toBe(403);
    ownService.reload({ models: { m: { upstreams }, next: { upstreams } } });
    expect((await ownService.chat('m', { messages: hello })).status).toBe(200);
    const { json } = await ownService.sendRequest({ method: 'GET', path: '/v1/models', headers: { 'api-key': 'caller-key' } });
    expect(json).toMatchObject({ data: [{ id: 'm' }, { id: 'next' }] });
  });
});
