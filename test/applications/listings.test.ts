import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryApplicationStore } from '#test/memory-application-store.ts';
import { startService, type TestService } from '#test/start-service.ts';
import { getApplicationPath, ownBucket, quickApp, save, show } from './support.ts';

let service: TestService;
const store = new MemoryApplicationStore();
const id = `applications/${ownBucket}/team/mine`;

beforeAll(async () => {
  service = await startService(
    {
      models: { demo: { upstreams: [{ protocol: 'demo' }] } },
      keys: { 'caller-key': { project: 'test' }, staff: { project: 'staff', role: 'staff' }, other: { project: 'other' } },
      roles: { default: { limits: { '*': { minute: 1000 } } } },
    },
    { applications: store },
  );
  const starters = ['Hello', 'Say hello'];
  await save(service, getApplicationPath('team/mine'), quickApp({ starters }, { displayName: 'Mine', userRoles: ['staff'] }));
  const storedApplication = await store.find(id);
  if (storedApplication !== undefined)
    await store.put({ ...storedApplication, updatedAtMs: storedApplication.createdAtMs + 60_000 }, undefined);
});

afterAll(() => service.close());

interface Item {
  readonly id: string;
  readonly created_at: number;
  readonly updated_at: number;
}

async function readItems(path: string, key?: string): Promise<Item[]> {
  return ((await show(service, path, key)).json as { data: Item[] }).data;
}

describe('a saved application', () => {
  it.each(['/openai/deployments', '/openai/applications', '/compat/applications', '/v1/models'])(
    'is listed at %s for its owner and for the roles that it names',
    async (path) => {
      for (const [key, isListed] of [
        ['caller-key', true],
        ['staff', true],
        ['other', false],
      ] as const) {
        expect((await readItems(path, key)).some((item) => item.id === id)).toBe(isListed);
      }
    },
  );

  it('is listed with its times, and without private settings', async () => {
    const [item] = await readItems('/openai/applications', 'staff');
    expect(item).toMatchObject({ object: 'application', display_name: 'Mine', owner: ownBucket });
    expect((item?.updated_at ?? 0) - (item?.created_at ?? 0)).toBe(60);
    expect(JSON.stringify(item)).not.toMatch(/key:test|Be kind/);
  });

  it('is found by its ID, with plain or encoded slashes', async () => {
    for (const path of [id, encodeURIComponent(id)]) {
      expect((await show(service, `/openai/applications/${path}`)).json).toMatchObject({ id });
      expect((await show(service, `/openai/applications/${path}`, 'other')).status).toBe(403);
    }
    expect((await show(service, `/openai/models/${id}`)).status).toBe(404);
  });

  it('has limits like any other deployment', async () => {
    expect((await show(service, `/v1/deployments/${id}/limits`)).json).toMatchObject({ minuteTokenStats: { total: 1000 } });
    expect((await show(service, `/v1/deployments/${id}/limits`, 'other')).status).toBe(403);
  });
});

describe('the configuration of a deployment', () => {
  it('contains the starters of a quick app, and the schema for the choice', async () => {
    expect((await show(service, `/v1/deployments/${id}/configuration`)).json).toEqual({
      starters: ['Hello', 'Say hello'],
      schema: {
        type: 'object',
        properties: {
          starter: { type: 'string', title: 'Starter', description: 'A prompt to begin with.', enum: ['Hello', 'Say hello'] },
        },
      },
    });
  });

  it('has no starters if the deployment has none', async () => {
    const { json } = await show(service, '/v1/deployments/demo/configuration');
    expect(json).toEqual({});
  });

  it('returns 403 if the caller cannot use the deployment, and 404 if it does not exist', async () => {
    expect((await show(service, `/v1/deployments/${id}/configuration`, 'other')).status).toBe(403);
    expect((await show(service, '/v1/deployments/none/configuration')).error.code).toBe('deployment_not_found');
    for (const path of ['demo', 'demo/', 'demo/constructor'])
      expect((await show(service, `/v1/deployments/${path}`)).error.code).toBe('route_not_found');
  });
});
