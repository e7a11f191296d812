import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import { hello } from '#test/chunks.ts';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import { MemoryApplicationStore } from '#test/memory-application-store.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { type DependencyGraph, startService, type TestService, withKey } from '#test/start-service.ts';
import { getApplicationPath, ownBucket, quickApp, save } from '../applications/support.ts';

const store = new MemoryApplicationStore();
const graphs: DependencyGraph[] = [];
let service: TestService;

beforeAll(async () => {
  service = await startService(
    { models: { demo: { upstreams: [{ protocol: 'demo' }] } }, security: { allowPrivateNetworks: ['127.0.0.0/8'] } },
    { applications: store, onDependencyGraph: (graph) => graphs.push(graph) },
  );
});

afterAll(() => service.close());

async function storeOldEntry(name: string, entry: object): Promise<string> {
  const id = `applications/${ownBucket}/${name}`;
  const application = { id, owner: 'key:test', entry: entry as ApplicationEntry, etag: name, createdAtMs: 0, updatedAtMs: 0 };
  await store.put(application, undefined);
  return id;
}

/** Maximum time that an attack may block the event loop. The bound is generous because test machines are slow. */
const maxBlockMs = 1500;

const match = (expression: string) => ({ condition_type: 'match', property_name: 'description', expression });
const createEntries = (count: number, expression: string) =>
  Array.from({ length: count }, () => ({ conditions: [match(expression)] }));

describe('conditions of a quick app', () => {
  it('are rejected with the path of the first if 40 expressions unfold to thousands of instructions', async () => {
    const app = quickApp({ applications_as_tools: createEntries(40, '(?:x?){1000}') });
    let answer: Awaited<ReturnType<typeof save>> | undefined;
    const holdMs = await measureEventLoopBlock(async () => {
      answer = await save(service, getApplicationPath('unfolding'), app);
    });
    expect([answer?.status, answer?.error.param]).toEqual([
      400,
      'applicationProperties.applications_as_tools[0].conditions[0].expression',
    ]);
    expect(holdMs).toBeLessThan(maxBlockMs);
  });

  it('are rejected if there are more than 200 entries, 20 conditions in one entry, or 100 in total', async () => {
    const path = 'applicationProperties.applications_as_tools';
    const conditions = Array.from({ length: 21 }, () => match('a'));
    for (const [applications_as_tools, param] of [
      [createEntries(201, 'a'), path],
      [[{ conditions }], `${path}[0].conditions`],
      [createEntries(101, 'a'), path],
    ] as const) {
      const { status, error } = await save(service, getApplicationPath('many'), quickApp({ applications_as_tools }));
      expect([status, error.param]).toEqual([400, param]);
    }
  });

  it('do not block the event loop on each call if an earlier version stored 80 of them', async () => {
    await storeOldEntry('long', quickApp({}, { description: 'x'.repeat(20_000) }));
    const id = await storeOldEntry('matching', quickApp({ applications_as_tools: createEntries(80, '(?:x?){1000}') }));
    const holdMs = await measureEventLoopBlock(() => service.chat(id, { messages: hello }));
    expect(holdMs).toBeLessThan(maxBlockMs);
  });
});

describe('references in an application', () => {
  const names = (count: number, prefix: string) => Array.from({ length: count }, (_, nth) => `${prefix}${nth}`);

  it.each([
    ['dependencies', quickApp({}, { dependencies: names(20_500, 'a') }), 'dependencies'],
    [
      'applications_as_tools',
      quickApp({ applications_as_tools: names(201, 'a') }),
      'applicationProperties.applications_as_tools',
    ],
    [
      'document_relative_url',
      quickApp({ document_relative_url: names(10_000, `files/${ownBucket}/`) }),
      'applicationProperties.document_relative_url',
    ],
  ])('are rejected if %s has more than 200 entries', async (_what, app, param) => {
    const { status, error } = await save(service, getApplicationPath('naming'), app);
    expect([status, error.param]).toEqual([400, param]);
    expect(error.message).toContain('at most 200 items');
  });

  it('are looked up in one query for a consent form and for a call', async () => {
    const dependencies = names(200, `applications/${ownBucket}/other`);
    await save(service, getApplicationPath('other7'), quickApp());
    const saved = await save(service, getApplicationPath('depending'), quickApp({}, { dependencies }));
    expect(saved.status).toBe(201);
    const id = `applications/${ownBucket}/depending`;
    const find = vi.spyOn(store, 'find');
    const findAll = vi.spyOn(store, 'findAll');
    graphs.length = 0;
    const form = await service.sendRequest({ method: 'GET', path: `/v1/consent/${id}`, headers: withKey() });
    expect(form.status).toBe(200);
    expect(graphs[0]?.dangling).toHaveLength(199);
    expect([find.mock.calls.length, findAll.mock.calls.length]).toEqual([expect.toSatisfy((calls) => calls <= 2), 1]);
    find.mockClear();
    findAll.mockClear();
    expect((await service.chat(id, { messages: hello })).status).toBe(200);
    expect(find.mock.calls.length).toBeLessThanOrEqual(5);
    expect(findAll.mock.calls.length).toBeLessThanOrEqual(3);
    vi.restoreAllMocks();
  });

  it('are looked up in one query for 200 documents', async () => {
    const index = new MemoryFileIndex();
    const findAll = vi.spyOn(index, 'findAll');
    const files = { index, blobs: {} as never };
    await using other = await startService({ models: { demo: { upstreams: [{ protocol: 'demo' }] } } }, { files });
    const app = quickApp({ document_relative_url: names(200, `files/${ownBucket}/`) });
    const { status, error } = await save(other, getApplicationPath('documents'), app);
    expect([status, error.param]).toEqual([400, 'applicationProperties.document_relative_url[0]']);
    expect(findAll.mock.calls).toHaveLength(1);
  });
});

describe('text fields of an application', () => {
  it.each([
    ['displayName', 201],
    ['displayVersion', 201],
    ['description', 4001],
    ['iconUrl', 8193],
  ])('are rejected if %s has %d characters', async (field, chars) => {
    const { status, error } = await save(service, getApplicationPath('wordy'), quickApp({}, { [field]: 'x'.repeat(chars) }));
    expect([status, error.param]).toEqual([400, field]);
  });

  it.each([
    ['features', { note: 'x'.repeat(17_000) }],
    ['defaults', { note: 'x'.repeat(66_000) }],
  ])('are rejected if %s is too large', async (field, value) => {
    const { status, error } = await save(service, getApplicationPath('wordy'), quickApp({}, { [field]: value }));
    expect([status, error.param]).toEqual([400, field]);
  });
});
