import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import { hello, plainCompletion } from '#test/chunks.ts';
import { MemoryApplicationStore } from '#test/memory-application-store.ts';
import { jsonReply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startService, type TestService } from '#test/start-service.ts';
import { getApplicationPath, ownBucket, quickApp, remove, save, show } from '../applications/support.ts';

const store = new MemoryApplicationStore();
let host: ScriptedUpstream;
let service: TestService;

beforeAll(async () => {
  host = await startScriptedUpstream(jsonReply(plainCompletion('hi')));
  service = await startService(
    {
      models: { demo: { upstreams: [{ protocol: 'demo' }] } },
      roles: { default: { limits: { '*': { minute: 12_000 } } } },
      security: { allowPrivateNetworks: ['127.0.0.0/8'] },
    },
    { applications: store },
  );
});

afterAll(async () => {
  await service.close();
  await host.close();
});

/** Stores an entry without the validation of PUT, like an earlier version of Parley. */
async function storeOldEntry(name: string, entry: object): Promise<string> {
  const id = `applications/${ownBucket}/${name}`;
  const application = { id, owner: 'key:test', entry: entry as ApplicationEntry, etag: name, createdAtMs: 0, updatedAtMs: 0 };
  await store.put(application, undefined);
  return id;
}

/** A number beyond 1.8e308, which Parley keeps as written. */
const infinite = (JSON as unknown as { rawJSON(text: string): object }).rawJSON('1e309');

const invalidDefaults: readonly [object, string][] = [
  [{ n: 20_000_000 }, 'defaults.n'],
  [{ n: 2000 }, 'defaults.n'],
  [{ n: 'x' }, 'defaults.n'],
  ...['max_tokens', 'max_completion_tokens'].flatMap((field) =>
    [-1, 0, 1.5, 'x', infinite].map((value): [object, string] => [{ [field]: value }, `defaults.${field}`]),
  ),
  [{ seed: infinite }, 'defaults.seed'],
  [{ logit_bias: { 7: infinite } }, 'defaults.logit_bias["7"]'],
  [{ thinking: { budgets: [1, infinite] } }, 'defaults.thinking.budgets[1]'],
  [{ messages: [] }, 'defaults.messages'],
];

describe('defaults of a saved application', () => {
  it.each(invalidDefaults)('are rejected with 400 and their path on save: %j', async (defaults, param) => {
    const { status, error } = await save(service, getApplicationPath('saved'), { ...quickApp(), defaults });
    expect([status, error?.code, error?.param]).toEqual([400, 'invalid_request', param]);
  });

  const readable = invalidDefaults.filter(([defaults]) => !JSON.stringify(defaults).includes('1e309'));
  it.each(readable.map(([defaults, param], nth) => [defaults, param, `old${nth}`] as const))(
    'that are stored as %j cause calls to fail, and the application can be repaired',
    async (defaults, param, name) => {
      const id = await storeOldEntry(name, { ...quickApp(), defaults });
      const answer = await service.chat(id, { messages: hello });
      expect([answer.status, answer.error?.code]).toEqual([400, 'operation_not_supported']);
      expect(answer.error?.message).toContain(param);
      const storedApplication = await show(service, getApplicationPath(name));
      expect([storedApplication.status, (storedApplication.json as { defaults: object }).defaults]).toEqual([200, defaults]);
      expect((await save(service, getApplicationPath(name), quickApp())).status).toBe(200);
      expect((await service.chat(id, { messages: hello })).status).toBe(200);
      expect((await remove(service, getApplicationPath(name))).status).toBe(204);
    },
  );

  it('do not admit any of 30 parallel calls if max_tokens is not a number', async () => {
    const id = await storeOldEntry('uncounted', { endpoint: `${host.url}/app`, defaults: { max_tokens: 'x' } });
    const answers = await Promise.all(Array.from({ length: 30 }, () => service.chat(id, { messages: hello })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(0);
  });

  it('reject a request that conflicts with them', async () => {
    const functions = [{ name: 'find', parameters: { type: 'object' } }];
    await save(service, getApplicationPath('functions'), { endpoint: `${host.url}/app`, defaults: { functions } });
    const tools = [{ type: 'function', function: { name: 'look' } }];
    const { status, error } = await service.chat(`applications/${ownBucket}/functions`, { messages: hello, tools });
    expect([status, error?.param]).toEqual([400, 'functions']);
  });
});

describe('stored application with an invalid field', () => {
  it.each<[string, object, string]>([
    ['endpoint', { endpoint: 'none' }, 'endpoint'],
    ['dependencies', { ...quickApp(), dependencies: 'all' }, 'dependencies'],
    ['settings', quickApp({ instructions: 7 }), 'applicationProperties.instructions'],
    ['name', quickApp({}, { displayName: 'x'.repeat(201) }), 'displayName'],
  ])('is listed and rejects calls: %s', async (name, entry, path) => {
    const id = await storeOldEntry(`shape-${name}`, entry);
    const answer = await service.chat(id, { messages: hello });
    expect([answer.status, answer.error?.code]).toEqual([400, 'operation_not_supported']);
    expect(answer.error?.message).toContain(path);
    const listing = await service.sendRequest({ method: 'GET', path: '/v1/models', headers: { 'api-key': 'caller-key' } });
    expect((listing.json as { data: { id: string }[] }).data.map((each) => each.id)).toContain(id);
    expect((await remove(service, getApplicationPath(`shape-${name}`))).status).toBe(204);
  });
});
