import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { jsonReply, type Reply, refusal, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { callerKey } from '#test/start-service.ts';
import { quickApp } from '../applications/support.ts';
import type { NodeReport } from './support.ts';

const canary = 'canary-of-an-upstream';
const patience = { interval: 50, timeout: 15_000 };

let host: ScriptedUpstream;
let node: TestProcess;

function configuration(more: object = {}): object {
  return {
    models: {
      demo: { upstreams: [{ protocol: 'demo' }], pricing: { prompt: 0.001 } },
      limited: { upstreams: [{ endpoint: `${host.url}/secret-path`, key: canary, headers: { 'x-extra': canary } }] },
    },
    applications: { app: quickApp({ temperature: 0, instructions: 'Help.', model: 'demo' }) },
    keys: { [callerKey]: { project: 'test', role: 'admin' } },
    ...more,
  };
}

beforeAll(async () => {
  host = await startScriptedUpstream(refusal(429, { 'retry-after': '50' }));
  node = await startProcess({ configuration: configuration() });
});

afterAll(async () => {
  await node[Symbol.asyncDispose]();
  await host.close();
});

async function read<Body>(path: string): Promise<Body> {
  const answer = await node.sendRequest({ method: 'GET', path: `/v1/admin/${path}`, headers: { 'api-key': callerKey } });
  expect([answer.status, answer.text]).toEqual([200, expect.not.stringMatching(/canary|secret-path|data\b.*parley\.db/)]);
  return answer.json as Body;
}

const state = () => read<NodeReport>('state');

describe('a node', () => {
  it('tells its health, its stores, its versions and what it was configured with', async () => {
    const { node: itself, health, hindrances, stores, configuration: configured } = await state();
    expect(itself).toMatchObject({ version: '0.1.0', runtime: process.version });
    expect(itself.startedAt).toBeLessThan(itself.now);
    expect([health, hindrances]).toEqual([{ status: 'ok', reasons: [] }, []]);
    expect(stores.map(({ holds, kind, isAway }) => [holds, kind, isAway])).toEqual([
      ['records', 'sqlite', false],
      ['files', 'disk', false],
      ['limits', 'memory', false],
    ]);
    expect(configured.files).toEqual([expect.stringMatching(/parley\.json$/)]);
    expect(configured).toMatchObject({ refusedAt: null, faults: [], warnings: [] });
    expect(configured.loadedAt).toBeGreaterThan(itself.startedAt);
  });

  it('tells which upstreams it leaves alone, until when, and why', async () => {
    const before = await state();
    expect(before.upstreams.map(({ deployment, state: status, offUntil }) => [deployment, status, offUntil])).toEqual([
      ['demo', 'ok', null],
      ['limited', 'ok', null],
    ]);
    expect((await node.chat('limited', { messages: hello })).status).toBe(429);
    const { upstreams, node: itself, health } = await state();
    const limited = upstreams.find(({ deployment }) => deployment === 'limited');
    expect(limited).toMatchObject({
      protocol: 'openai',
      origin: host.url,
      model: 'limited',
      state: 'rate_limited',
      refusedStatus: 429,
    });
    expect((limited?.offUntil ?? 0) - itself.now).toBeGreaterThan(30_000);
    expect(health.reasons.map(({ code }) => code)).toEqual(['upstream_off']);
  });

  it('tells which upstreams refuse the key they are asked with, until one answers', async () => {
    await using locked = await startScriptedUpstream();
    const keys = { [callerKey]: { project: 'test', role: 'admin' } };
    const models = { keyed: { upstreams: [{ endpoint: locked.endpoint, key: canary }] } };
    await using itself = await startProcess({ configuration: { models, keys } });
    const told = async (reply: Reply) => {
      locked.script(reply);
      await itself.chat('keyed', { messages: hello });
      const { json } = await itself.sendRequest({ method: 'GET', path: '/v1/admin/state', headers: { 'api-key': callerKey } });
      const [upstream] = (json as NodeReport).upstreams;
      return [upstream?.refusedStatus, upstream?.state, upstream?.offUntil];
    };
    expect(await told(refusal(400))).toEqual([null, 'ok', null]);
    expect(await told(refusal(401))).toEqual([401, 'ok', null]);
    expect(await told(refusal(403))).toEqual([403, 'ok', null]);
    expect(await told(refusal(400))).toEqual([403, 'ok', null]);
    expect(await told(jsonReply(plainCompletion('Hello')))).toEqual([null, 'ok', null]);
  });

  it('is degraded while an upstream rejects the credentials of the configuration, also with another key, until a call succeeds', async () => {
    await using locked = await startScriptedUpstream();
    const keys = { [callerKey]: { project: 'test', role: 'admin' } };
    const toModels = (key: string) => ({ keyed: { upstreams: [{ endpoint: locked.endpoint, key }] } });
    await using itself = await startProcess({ configuration: { models: toModels(canary), keys } });
    const ask = async (...replies: readonly Reply[]) => {
      for (const reply of replies) {
        locked.script(reply);
        await itself.chat('keyed', { messages: hello });
      }
      const get = (path: string) => itself.sendRequest({ method: 'GET', path, headers: { 'api-key': callerKey } });
      const { reasons } = (await get('/health')).json as { reasons: readonly { code: string; message: string }[] };
      expect(((await get('/v1/admin/state')).json as NodeReport).health.reasons).toEqual(reasons);
      const [, metric] = /^parley_upstream_state\{[^}]*\} (\d)$/m.exec((await get('/metrics')).text) ?? [];
      return [metric, ...reasons.map(({ code, message }) => `${code}: ${message.replace(/#[0-9a-f]{8}/, '')}`)];
    };
    const rejected = (status: number) =>
      `upstream_credentials_rejected: keyed rejects the credentials of the configuration with ${status}. Check key and headers of this upstream.`;
    const good = jsonReply(plainCompletion('Hello'));
    expect(await ask(good)).toEqual(['0']);
    expect(await ask(refusal(403))).toEqual(['0']);
    expect(await ask(refusal(403))).toEqual(['2', rejected(403)]);
    expect(await ask(good)).toEqual(['0']);
    expect(await ask(refusal(403), good, refusal(403))).toEqual(['0']);
    expect(await ask(refusal(401))).toEqual(['2', rejected(401)]);
    expect(await ask(refusal(400))).toEqual(['2', rejected(401)]);
    await itself.configure({ models: toModels('another key'), keys });
    await vi.waitUntil(() => itself.output.stdout.includes('read anew'), patience);
    expect(await ask()).toEqual(['0']);
    expect(await ask(refusal(401))).toEqual(['2', rejected(401)]);
    expect(await ask(good)).toEqual(['0']);
  });

  it('keeps an upstream paused across a reload that changes its key alone', async () => {
    await using away = await startScriptedUpstream(refusal(429, { 'retry-after': '50' }));
    const keys = { [callerKey]: { project: 'test', role: 'admin' } };
    const toModels = (upstream: object) => ({ keyed: { upstreams: [{ endpoint: away.endpoint, ...upstream }] } });
    await using itself = await startProcess({ configuration: { models: toModels({ key: 'one' }), keys } });
    await itself.chat('keyed', { messages: hello });
    const reload = async (upstream: object) => {
      const before = itself.output.stdout.split('read anew').length;
      await itself.configure({ models: toModels(upstream), keys });
      await vi.waitUntil(() => itself.output.stdout.split('read anew').length > before, patience);
      const { json } = await itself.sendRequest({ method: 'GET', path: '/v1/admin/state', headers: { 'api-key': callerKey } });
      return (json as NodeReport).upstreams[0]?.state;
    };
    expect(await reload({ key: 'two' })).toBe('rate_limited');
    expect(await reload({})).toBe('rate_limited');
    expect(await reload({ key: 'two', weight: 2 })).toBe('ok');
  });

  it('rejects a blocked user immediately, with SQLite and without Redis', async () => {
    const keys = { [callerKey]: { project: 'test', role: 'admin' }, 'other-key': { project: 'other' } };
    const models = { demo: { upstreams: [{ protocol: 'demo' }] } };
    await using itself = await startProcess({ configuration: { models, keys } });
    const ask = async (method: string, path: string, key: string) =>
      (await itself.sendRequest({ method, path, headers: { 'api-key': key } })).status;
    expect(await ask('GET', '/v1/models', 'other-key')).toBe(200);
    expect(await ask('PUT', '/v1/admin/blocked-users/key%3Aother', callerKey)).toBe(201);
    expect(await ask('GET', '/v1/models', 'other-key')).toBe(403);
    expect(await ask('DELETE', '/v1/admin/blocked-users/key%3Aother', callerKey)).toBe(204);
    expect(await ask('GET', '/v1/models', 'other-key')).toBe(200);
  });

  it('reports why an upstream cannot be reached, in the log too', async () => {
    const keys = { [callerKey]: { project: 'test', role: 'admin' } };
    const models = { away: { upstreams: [{ endpoint: 'http://127.0.0.1:1/v1' }], maxRetryAttempts: 1 } };
    await using itself = await startProcess({ configuration: { models, keys } });
    await itself.chat('away', { messages: hello });
    const { json } = await itself.sendRequest({ method: 'GET', path: '/v1/admin/state', headers: { 'api-key': callerKey } });
    const words = 'The upstream cannot be reached: the connection was refused.';
    expect((json as NodeReport).upstreams[0]?.lastError).toBe(words);
    await vi.waitUntil(() => itself.output.stdout.includes(words), patience);
  });

  it('tells the faults of a reload that was refused, each with its path, until a good one comes', async () => {
    await node.configure(configuration({ models: { demo: { upstreams: [{ protocol: 'demo', wieght: 2 }] } } }));
    const refused = await vi.waitUntil(async () => {
      const { configuration: now } = await state();
      return now.faults.length > 0 && now;
    }, patience);
    expect(refused.faults).toEqual([
      {
        file: refused.files[0],
        path: 'models.demo.upstreams[0].wieght',
        message: expect.any(String),
        hint: expect.stringContaining('weight'),
      },
    ]);
    expect(refused.refusedAt).toBeGreaterThan(refused.loadedAt);
    await node.configure(configuration());
    const loaded = await vi.waitUntil(async () => {
      const { configuration: now } = await state();
      return now.faults.length === 0 && now;
    }, patience);
    expect(loaded.loadedAt).toBeGreaterThan(refused.loadedAt);
    expect(loaded.refusedAt).toBeNull();
    const { data } = await vi.waitUntil(async () => {
      const page = await read<{ data: { action: string }[] }>('audit?kind=configuration');
      return page.data.length === 3 && page;
    }, patience);
    expect(data.map(({ action }) => action)).toEqual(['configuration.loaded', 'configuration.refused', 'configuration.loaded']);
  });

  it('counts a call that is answered with another one once, and its cost', async () => {
    const { completion } = await node.chat('app', { messages: hello });
    const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = completion.usage ?? {};
    const { data, total } = await vi.waitUntil(async () => {
      const usage = await read<{ data: object[]; total: { calls: number; completionTokens: number } }>('usage?by=deployment');
      return usage.total.calls === 2 && usage.data.length === 3 && usage;
    }, patience);
    const cost = expect.closeTo((promptTokens ?? 0) * 0.001, 9);
    const once = { calls: 1, failedCalls: 0, refusedCalls: 0, promptTokens, completionTokens };
    expect(data.slice(0, 2)).toEqual([
      { deployment: 'demo', ...once, cost },
      { deployment: 'app', ...once, cost: 0 },
    ]);
    expect(total).toMatchObject({ completionTokens, cost });
  });
});
