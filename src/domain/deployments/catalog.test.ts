import { expect, it } from 'vitest';
import { Configuration } from '#contract/configuration/configuration.ts';
import { complete } from '#contract/configuration/schema-node.ts';
import { MemoryApplicationStore } from '#test/memory-application-store.ts';
import type { StoredApplication } from './application-store.ts';
import { Catalog } from './catalog.ts';
import { createConfigSnapshot } from './config-snapshot.ts';

/** Returns the same object until the test replaces it, like a store with a cache. */
class CachingStore extends MemoryApplicationStore {
  cached: StoredApplication;

  constructor(cached: StoredApplication) {
    super();
    this.cached = cached;
  }

  override async find(): Promise<StoredApplication> {
    return this.cached;
  }

  override async listAccessible(): Promise<readonly StoredApplication[]> {
    return [this.cached];
  }
}

const id = 'applications/b/app';
const quickApp = {
  applicationTypeSchemaId: 'https://any.example/custom_application_schemas/quickapps',
  applicationProperties: { temperature: 0, instructions: 'Be kind.', model: 'demo' },
};
const stored = (etag: string): StoredApplication => ({
  ...{ id, owner: 'ada', entry: { ...quickApp, displayName: etag } as never, etag, createdAtMs: 1, updatedAtMs: 1 },
});

it('Catalog finds configured deployments synchronously, and builds a saved application only once while it is unchanged', async () => {
  const configuration = complete(Configuration, { models: { demo: { upstreams: [{ protocol: 'demo' }] } } });
  const snapshot = createConfigSnapshot(configuration as Configuration);
  const store = new CachingStore(stored('one'));
  const catalog = new Catalog(store);
  expect(catalog.find(snapshot, 'demo')).toBe(snapshot.deployments.get('demo'));
  expect(catalog.find(snapshot, 'none')).toBeUndefined();
  const found = await catalog.find(snapshot, id);
  const listed = await catalog.list(snapshot, { subject: 'ada', roles: [] });
  expect(listed).toEqual([snapshot.deployments.get('demo'), found]);
  expect(listed[1]).toBe(found);
  store.cached = stored('two');
  expect((await catalog.find(snapshot, id))?.displayName).toBe('two');
});
