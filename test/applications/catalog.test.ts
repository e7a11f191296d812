import { expect, it } from 'vitest';
import type { StoredApplication } from '#domain/deployments/application-store.ts';
import { Catalog } from '#domain/deployments/catalog.ts';
import { MemoryApplicationStore } from '#test/memory-application-store.ts';
import { startService } from '#test/start-service.ts';
import { quickApp } from './support.ts';

/** Gives the same object as long as it is not told another, as a store with a memory does. */
class KeepingStore extends MemoryApplicationStore {
  kept: StoredApplication;

  constructor(kept: StoredApplication) {
    super();
    this.kept = kept;
  }

  override async find(): Promise<StoredApplication> {
    return this.kept;
  }

  override async listOpen(): Promise<readonly StoredApplication[]> {
    return [this.kept];
  }
}

const id = 'applications/b/app';
const stored = (etag: string): StoredApplication => ({
  ...{ id, owner: 'ada', entry: quickApp({}, { displayName: etag }) as never, etag, createdAtMs: 1, updatedAtMs: 1 },
});

it('A deployment of the configuration is found at once, one that a user made is built once as long as it is as it was', async () => {
  await using service = await startService({ models: { demo: { upstreams: [{ protocol: 'demo' }] } } });
  const snapshot = service.snapshot.current();
  const store = new KeepingStore(stored('one'));
  const catalog = new Catalog(store);
  expect(catalog.find(snapshot, 'demo')).toBe(snapshot.deployments.get('demo'));
  expect(catalog.find(snapshot, 'none')).toBeUndefined();
  const found = await catalog.find(snapshot, id);
  const listed = await catalog.list(snapshot, { subject: 'ada', roles: [] });
  expect(listed).toEqual([snapshot.deployments.get('demo'), found]);
  expect(listed[1]).toBe(found);
  store.kept = stored('two');
  expect((await catalog.find(snapshot, id))?.displayName).toBe('two');
});
