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

async function readItem(path: string, key = 'user'): Promise<Item> {
  const { status, json } = await service.sendRequest({ method: 'GET', path, headers: { 'api-key': key } });
  expect([path, status]).toEqual([path, 200]);
  return json as Item;
}

async function readItems(path: string): Promise<readonly Item[]> {
  return ((await readItem(path)) as unknown as { readonly data: readonly Item[] }).data;
}

const listings = ['/openai/models', '/openai/deployments', '/openai/applications', '/v1/models'];

describe('an item of a listing', () => {
  it.each(listings)(
    'has id, object, created_at, and every feature as a boolean at %s, both alone and in the list',
    async (path) => {
      const items = await readItems(path);
      expect(items.length).toBeGreaterThan(1);
      for (const item of items) {
        expect(await readItem(`${path}/${item.id}`)).toEqual(item);
        expect(Number.isInteger(item.created_at)).toBe(true);
        for (const flag of flags) expect([item.id, flag, typeof item.features[flag]]).toEqual([item.id, flag, 'boolean']);
      }
    },
  );

  it.each(listings)('contains no address at %s', async (path) => {
    expect(JSON.stringify(await readItems(path))).not.toMatch(/127\.0\.0\.1|10\.1\.2\.3|Endpoint/);
  });

  it('names its kind as the listing does, and repeats its ID under that kind', async () => {
    const readObjects = async (path: string) =>
      (await readItems(path)).map(({ id, object, model, application }) => [id, object, model, application]);
    expect(await readObjects('/openai/models')).toEqual([
      ['chat', 'model', 'chat', undefined],
      ['vectors', 'model', 'vectors', undefined],
    ]);
    expect(await readObjects('/openai/applications')).toEqual(
      ['plain', 'able', 'typed'].map((id) => [id, 'application', undefined, id]),
    );
    expect(await readObjects('/openai/deployments')).toEqual([
      ['chat', 'model', 'chat', undefined],
      ['vectors', 'model', 'vectors', undefined],
      ...['plain', 'able', 'typed'].map((id) => [id, 'deployment', id, undefined]),
    ]);
    expect((await readItems('/v1/models')).map(({ object }) => object)).toEqual(Array(5).fill('model'));
  });

  it('has capabilities, lifecycle, defaults, and prices in decimal digits for a model', async () => {
    const capabilities = { scale_types: ['standard'], completion: false, fine_tune: false, inference: false };
    expect(await readItem('/openai/models/chat')).toMatchObject({
      capabilities: { ...capabilities, chat_completion: true, embeddings: false },
      lifecycle_status: 'generally-available',
      defaults: { temperature: 0.5 },
      pricing: { unit: 'token', prompt: '0.0000005', completion: '0.00000125', cache_read: '0.00000001' },
    });
    expect(await readItem('/openai/models/vectors')).toMatchObject({
      capabilities: { ...capabilities, chat_completion: false, embeddings: true },
      defaults: {},
    });
  });

  it('reports the features that are configured and that Parley serves', async () => {
    expect((await readItem('/openai/applications/able')).features).toMatchObject({
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
    expect((await readItem('/openai/applications/plain')).features).toMatchObject({
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
    expect((await readItem('/openai/models/chat')).features).toMatchObject({
      ...{ rate: true, tokenize: true, truncate_prompt: true, tools: true },
    });
    expect((await readItem('/openai/models/vectors')).features).toMatchObject({
      ...{ tokenize: true, truncate_prompt: false, tools: false },
    });
    expect((await readItem('/openai/applications/typed')).features).toMatchObject({ configuration: true });
  });

  it('shows administrators the settings of a typed application without secrets', async () => {
    const item = await readItem('/openai/applications/typed', 'boss');
    expect(item.application_type_schema_id).toBe(typed.applicationTypeSchemaId);
    expect(item.application_properties).toMatchObject({ model: 'chat', web_api_toolset: [{ name: 'shop' }] });
    expect(JSON.stringify(item)).not.toMatch(/canary|\*\*\*/);
    expect(await readItem('/openai/applications/plain', 'boss')).not.toHaveProperty('application_properties');
  });

  it('shows other callers only the public form fields of a typed application', async () => {
    const typedItem = await readItem('/openai/applications/typed');
    expect(typedItem.application_type_schema_id).toBe(typed.applicationTypeSchemaId);
    expect(typedItem.application_properties).toEqual({ starters: ['Hello'] });
    for (const path of ['/openai/applications', '/openai/deployments', '/v1/models', '/compat/applications']) {
      const { status, text } = await service.sendRequest({ method: 'GET', path, headers: { 'api-key': 'user' } });
      expect([path, status]).toEqual([path, 200]);
      expect(text).not.toMatch(/Keep this to yourself|"shop"/);
    }
  });
});

describe('an application that a user saved', () => {
  it('shows its settings only to its owner, and its starters to other users', async () => {
    const id = `applications/${getBucket('key:p')}/mine`;
    const saveResponse = await service.sendRequest({
      method: 'PUT',
      path: `/v1/${id}`,
      headers: withKey('user'),
      body: { ...typed, userRoles: ['staff'] },
    });
    expect(saveResponse.status).toBe(201);
    expect(await readItem(`/openai/applications/${id}`)).toMatchObject({ application_properties: { model: 'chat' } });
    const itemForOther = await readItem(`/openai/applications/${id}`, 'other');
    expect(itemForOther).toMatchObject({ id, application: id, application_type_schema_id: typed.applicationTypeSchemaId });
    expect(itemForOther.application_properties).toEqual({ starters: ['Hello'] });
    await service.sendRequest({ method: 'DELETE', path: `/v1/${id}`, headers: withKey('user') });
  });
});

describe('/v1/deployment-names', () => {
  async function readNames(query: string): Promise<unknown> {
    return readItem(`/v1/deployment-names${query}`);
  }
  const models = ['chat', 'vectors'].map((id) => ({ id, object: 'model' }));
  const applications = ['plain', 'able', 'typed'].map((id) => ({ id, object: 'application' }));

  it('returns an array of models and applications', async () => {
    expect(await readNames('')).toEqual([...models, ...applications]);
    expect(await readNames('?type=')).toEqual([...models, ...applications]);
  });

  it('returns only the requested types', async () => {
    expect(await readNames('?type=model')).toEqual(models);
    expect(await readNames('?type=application')).toEqual(applications);
    expect(await readNames('?type=toolset')).toEqual([]);
    expect(await readNames('?type=application,model,toolset')).toEqual([...models, ...applications]);
    expect(await readNames('?type=model&type=application')).toEqual([...models, ...applications]);
  });

  it('rejects an unknown type, and requests without a key', async () => {
    const rejected = await service.sendRequest({
      method: 'GET',
      path: '/v1/deployment-names?type=model,addon',
      headers: withKey('user'),
    });
    expect([rejected.status, rejected.error.param]).toEqual([400, 'type']);
    expect((await service.sendRequest({ method: 'GET', path: '/v1/deployment-names' })).status).toBe(401);
  });
});
