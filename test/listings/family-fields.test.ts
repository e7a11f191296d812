import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getBucket } from '#test/buckets.ts';
import { startService, type TestService, withKey } from '#test/start-service.ts';
import { quickApp } from '../applications/support.ts';

const upstreams = [{ protocol: 'demo' }];
const endpoint = 'http://127.0.0.1:9/app';
const flags = [
  'reasoning',
  'rate',
  'tokenize',
  'truncate_prompt',
  'configuration',
  'system_prompt',
  'tools',
  'seed',
  'url_attachments',
  'folder_attachments',
  'allow_resume',
  'accessible_by_per_request_key',
];
const secret = 'canary-of-a-web-api';
const web = { type: 'rest-api', name: 'shop', authorization: { type: 'bearer', token: secret }, tools: [] };
const typed = quickApp({ model: 'chat', instructions: 'Keep this to yourself.', starters: ['Hello'], web_api_toolset: [web] });
let service: TestService;

beforeAll(async () => {
  service = await startService({
    models: {
      chat: {
        upstreams,
        pricing: { prompt: 0.0000005, completion: 0.00000125, cacheRead: 1e-8 },
        defaults: { temperature: 0.5 },
      },
      vectors: { upstreams, type: 'embedding' },
    },
    applications: {
      plain: { endpoint },
      able: {
        endpoint,
        features: {
          ...{
            toolsSupported: true,
            reasoningSupported: true,
            seedSupported: true,
            systemPromptSupported: false,
            allowResume: false,
          },
          ...{ urlAttachmentsSupported: true, folderAttachmentsSupported: true, accessibleByPerRequestKey: false },
          ...{ rateEndpoint: `${endpoint}/rate`, tokenizeEndpoint: `${endpoint}/tokenize`, homePage: 'http://10.1.2.3/x' },
          ...{ truncatePromptEndpoint: `${endpoint}/truncate`, configurationEndpoint: `${endpoint}/configuration` },
        },
      },
      typed,
    },
    keys: { user: { project: 'p' }, other: { project: 'q', role: 'staff' }, boss: { project: 'b', role: 'admin' } },
  });
});

afterAll(() => service.close());

type Item = { readonly id: string; readonly object: string; readonly features: Record<string, unknown> } & Record<
  string,
  unknown
>;

async function itemAt(path: string, key = 'user'): Promise<Item> {
  const { status, json } = await service.sendRequest({ method: 'GET', path, headers: { 'api-key': key } });
  expect([path, status]).toEqual([path, 200]);
  return json as Item;
}

async function itemsAt(path: string): Promise<readonly Item[]> {
  return ((await itemAt(path)) as unknown as { readonly data: readonly Item[] }).data;
}

const listings = ['/openai/models', '/openai/deployments', '/openai/applications', '/v1/models'];

describe('an item of a listing', () => {
  it.each(listings)('has id, object, created_at and every feature as a boolean at %s, alone as in the list', async (path) => {
    const items = await itemsAt(path);
    expect(items.length).toBeGreaterThan(1);
    for (const item of items) {
      expect(await itemAt(`${path}/${item.id}`)).toEqual(item);
      expect(Number.isInteger(item.created_at)).toBe(true);
      for (const flag of flags) expect([item.id, flag, typeof item.features[flag]]).toEqual([item.id, flag, 'boolean']);
    }
  });

  it.each(listings)('shows no address at %s', async (path) => {
    expect(JSON.stringify(await itemsAt(path))).not.toMatch(/127\.0\.0\.1|10\.1\.2\.3|Endpoint/);
  });

  it('says model, deployment or application as the listing does, and its id again', async () => {
    const objects = async (path: string) =>
      (await itemsAt(path)).map(({ id, object, model, application }) => [id, object, model, application]);
    expect(await objects('/openai/models')).toEqual([
      ['chat', 'model', 'chat', undefined],
      ['vectors', 'model', 'vectors', undefined],
    ]);
    expect(await objects('/openai/applications')).toEqual(
      ['plain', 'able', 'typed'].map((id) => [id, 'application', undefined, id]),
    );
    expect(await objects('/openai/deployments')).toEqual([
      ['chat', 'model', 'chat', undefined],
      ['vectors', 'model', 'vectors', undefined],
      ...['plain', 'able', 'typed'].map((id) => [id, 'deployment', id, undefined]),
    ]);
    expect((await itemsAt('/v1/models')).map(({ object }) => object)).toEqual(Array(5).fill('model'));
  });

  it('of a model has capabilities, lifecycle, defaults, and prices in decimal digits', async () => {
    const abilities = { scale_types: ['standard'], completion: false, fine_tune: false, inference: false };
    expect(await itemAt('/openai/models/chat')).toMatchObject({
      capabilities: { ...abilities, chat_completion: true, embeddings: false },
      lifecycle_status: 'generally-available',
      defaults: { temperature: 0.5 },
      pricing: { unit: 'token', prompt: '0.0000005', completion: '0.00000125', cache_read: '0.00000001' },
    });
    expect(await itemAt('/openai/models/vectors')).toMatchObject({
      capabilities: { ...abilities, chat_completion: false, embeddings: true },
      defaults: {},
    });
  });

  it('announces what is configured, and what is served', async () => {
    expect((await itemAt('/openai/applications/able')).features).toMatchObject({
      ...{
        tools: true,
        reasoning: true,
        seed: true,
        system_prompt: false,
        allow_resume: false,
        url_attachments: true,
        folder_attachments: true,
      },
      ...{ rate: true, tokenize: true, truncate_prompt: true, configuration: true, accessible_by_per_request_key: false },
    });
    expect((await itemAt('/openai/applications/plain')).features).toMatchObject({
      ...{
        tools: false,
        reasoning: false,
        seed: false,
        system_prompt: true,
        allow_resume: true,
        url_attachments: false,
        folder_attachments: false,
      },
      ...{ rate: true, tokenize: false, truncate_prompt: false, configuration: false, accessible_by_per_request_key: true },
    });
    expect((await itemAt('/openai/models/chat')).features).toMatchObject({
      ...{ rate: true, tokenize: true, truncate_prompt: true, tools: true },
    });
    expect((await itemAt('/openai/models/vectors')).features).toMatchObject({
      ...{ tokenize: true, truncate_prompt: false, tools: false },
    });
    expect((await itemAt('/openai/applications/typed')).features).toMatchObject({ configuration: true });
  });

  it('shows administrators the settings of a typed application without secrets', async () => {
    const item = await itemAt('/openai/applications/typed', 'boss');
    expect(item.application_type_schema_id).toBe(typed.applicationTypeSchemaId);
    expect(item.application_properties).toMatchObject({ model: 'chat', web_api_toolset: [{ name: 'shop' }] });
    expect(JSON.stringify(item)).not.toMatch(/canary|\*\*\*/);
    expect(await itemAt('/openai/applications/plain', 'boss')).not.toHaveProperty('application_properties');
  });

  it('shows other callers only the public form fields of a typed application', async () => {
    const typedItem = await itemAt('/openai/applications/typed');
    expect(typedItem.application_type_schema_id).toBe(typed.applicationTypeSchemaId);
    expect(typedItem.application_properties).toEqual({ starters: ['Hello'] });
    for (const path of ['/openai/applications', '/openai/deployments', '/v1/models', '/compat/applications']) {
      const { status, text } = await service.sendRequest({ method: 'GET', path, headers: { 'api-key': 'user' } });
      expect([path, status]).toEqual([path, 200]);
      expect(text).not.toMatch(/Keep this to yourself|"shop"/);
    }
  });
});

describe('an application that a user made', () => {
  it('shows its settings only to that user, and its starters to other users', async () => {
    const id = `applications/${getBucket('key:p')}/mine`;
    const saved = await service.sendRequest({
      method: 'PUT',
      path: `/v1/${id}`,
      headers: withKey('user'),
      body: { ...typed, userRoles: ['staff'] },
    });
    expect(saved.status).toBe(201);
    expect(await itemAt(`/openai/applications/${id}`)).toMatchObject({ application_properties: { model: 'chat' } });
    const toOthers = await itemAt(`/openai/applications/${id}`, 'other');
    expect(toOthers).toMatchObject({ id, application: id, application_type_schema_id: typed.applicationTypeSchemaId });
    expect(toOthers.application_properties).toEqual({ starters: ['Hello'] });
    await service.sendRequest({ method: 'DELETE', path: `/v1/${id}`, headers: withKey('user') });
  });
});

describe('/v1/deployment-names', () => {
  async function namesAt(query: string): Promise<unknown> {
    return itemAt(`/v1/deployment-names${query}`);
  }
  const models = ['chat', 'vectors'].map((id) => ({ id, object: 'model' }));
  const applications = ['plain', 'able', 'typed'].map((id) => ({ id, object: 'application' }));

  it('is a bare list of models and applications', async () => {
    expect(await namesAt('')).toEqual([...models, ...applications]);
    expect(await namesAt('?type=')).toEqual([...models, ...applications]);
  });

  it('has the kinds that are asked for', async () => {
    expect(await namesAt('?type=model')).toEqual(models);
    expect(await namesAt('?type=application')).toEqual(applications);
    expect(await namesAt('?type=toolset')).toEqual([]);
    expect(await namesAt('?type=application,model,toolset')).toEqual([...models, ...applications]);
    expect(await namesAt('?type=model&type=application')).toEqual([...models, ...applications]);
  });

  it('refuses an unknown kind, and callers without a key', async () => {
    const refused = await service.sendRequest({
      method: 'GET',
      path: '/v1/deployment-names?type=model,addon',
      headers: withKey('user'),
    });
    expect([refused.status, refused.error.param]).toEqual([400, 'type']);
    expect((await service.sendRequest({ method: 'GET', path: '/v1/deployment-names' })).status).toBe(401);
  });
});
