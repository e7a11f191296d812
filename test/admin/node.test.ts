import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hello, plainCompletion } from '#test/chunks.ts';
import { errorReply, jsonReply, type Reply, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { callerKey } from '#test/start-service.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { quickApp } from '../applications/support.ts';
import type { NodeReport } from './support.ts';

const canary = 'canary-of-an-upstream';
const waitOptions = { interval: 50, timeout: 15_000 };

let host: ScriptedUpstream;
let node: TestProcess;

function configuration(otherSections: object = {}): object {
  return {
    models: {
      demo: { upstreams: [{ protocol: 'demo' }], pricing: { prompt: 0.001 } },
      limited: { upstreams: [{ endpoint: `${host.url}/secret-path`, key: canary, headers: { 'x-extra': canary } }] },
    },
    applications: { app: quickApp({ temperature: 0, instructions: 'Help.', model: 'demo' }) },
    keys: { [callerKey]: { project: 'test', role: 'admin' } },
    ...otherSections,
  };
}

beforeAll(async () => {
  host = await startScriptedUpstream(errorReply(429, { 'retry-after': '50' }));
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

describe('the state of a node', () => {
  it('contains its health, its stores, its version, and its configuration files', async () => {
    const { node: info, health, hindrances, stores, configuration: loaded } = await state();
    expect(info).toMatchObject({ version: packageJson.version, runtime: process.version });
    expect(info.startedAt).toBeLessThan(info.now);
    expect([health, hindrances]).toEqual([{ status: 'ok', reasons: [] }, []]);
    expect(stores.map(({ holds, kind, isAway }) => [holds, kind, isAway])).toEqual([
      ['records', 'sqlite', false],
      ['files', 'disk', false],
      ['limits', 'memory', false],
    ]);
    expect(loaded.files).toEqual([expect.stringMatching(/parley\.json$/)]);
    expect(loaded).toMatchObject({ refusedAt: null, faults: [], warnings: [] });
    expect(loaded.loadedAt).toBeGreaterThan(info.startedAt);
  });

  it('lists the upstreams that are paused, until when, and why', async () => {
    const before = await state();
    expect(before.upstreams.map(({ deployment, state: status, offUntil }) => [deployment, status, offUntil])).toEqual([
      ['demo', 'ok', null],
      ['limited', 'ok', null],
    ]);
    expect((await node.chat('limited', { messages: hello })).status).toBe(429);
    const { upstreams, node: info, health } = await state();
    const limited = upstreams.find(({ deployment }) => deployment === 'limited');
    expect(limited).toMatchObject({
      protocol: 'openai',
      origin: host.url,
      model: 'limited',
      state: 'rate_limited',
      refusedStatus: 429,
    });
    expect((limited?.offUntil ?? 0) - info.now).toBeGreaterThan(30_000);
    expect(health.reasons.map(({ code }) => code)).toEqual(['upstream_off']);
  });

  it('shows the status of a rejected upstream key until a call succeeds', async () => {
    await using upstreamServer = await startScriptedUpstream();
    const keys = { [callerKey]: { project: 'test', role: 'admin' } };
    const models = { keyed: { upstreams: [{ endpoint: upstreamServer.endpoint, key: canary }] } };
    await using testNode = await startProcess({ configuration: { models, keys } });
    const readUpstream = async (reply: Reply) => {
      upstreamServer.script(reply);
      await testNode.chat('keyed', { messages: hello });
      const { json } = await testNode.sendRequest({ method: 'GET', path: '/v1/admin/state', headers: { 'api-key': callerKey } });
      const [upstream] = (json as NodeReport).upstreams;
      return [upstream?.refusedStatus, upstream?.state, upstream?.offUntil];
    };
    expect(await readUpstream(errorReply(400))).toEqual([null, 'ok', null]);
    expect(await readUpstream(errorReply(401))).toEqual([401, 'ok', null]);
    expect(await readUpstream(errorReply(403))).toEqual([403, 'ok', null]);
    expect(await readUpstream(errorReply(400))).toEqual([403, 'ok', null]);
    expect(await readUpstream(jsonReply(plainCompletion('Hello')))).toEqual([null, 'ok', null]);
  });

  it('is degraded while an upstream rejects its credentials, including those of a new configuration, until a call succeeds', async () => {
    await using upstreamServer = await startScriptedUpstream();
    const keys = { [callerKey]: { project: 'test', role: 'admin' } };
    const toModels = (key: string) => ({ keyed: { upstreams: [{ endpoint: upstreamServer.endpoint, key }] } });
    await using testNode = await startProcess({ configuration: { models: toModels(canary), keys } });
    const sendAndReadIssues = async (...replies: readonly Reply[]) => {
      for (const reply of replies) {
        upstreamServer.script(reply);
        await testNode.chat('keyed', { messages: hello });
      }
      const get = (path: string) => testNode.sendRequest({ method: 'GET', path, headers: { 'api-key': callerKey } });
      const { reasons } = (await get('/health')).json as { reasons: readonly { code: string; message: string }[] };
      expect(((await get('/v1/admin/state')).json as NodeReport).health.reasons).toEqual(reasons);
      const [, metric] = /^parley_upstream_state\{[^}]*\} (\d)$/m.exec((await get('/metrics')).text) ?? [];
      return [metric, ...reasons.map(({ code, message }) => `${code}: ${message.replace(/#[0-9a-f]{8}/, '')}`)];
    };
    const toIssue = (status: number) =>
      `upstream_credentials_rejected: keyed rejects the credentials of the configuration with ${status}. Check key and headers of this upstream.`;
    const success = jsonReply(plainCompletion('Hello'));
    expect(await sendAndReadIssues(success)).toEqual(['0']);
    expect(await sendAndReadIssues(errorReply(403))).toEqual(['0']);
    expect(await sendAndReadIssues(errorReply(403))).toEqual(['2', toIssue(403)]);
    expect(await sendAndReadIssues(success)).toEqual(['0']);
    expect(await sendAndReadIssues(errorReply(403), success, errorReply(403))).toEqual(['0']);
    expect(await sendAndReadIssues(errorReply(401))).toEqual(['2', toIssue(401)]);
    expect(await sendAndReadIssues(errorReply(400))).toEqual(['2', toIssue(401)]);
    await testNode.configure({ models: toModels('another key'), keys });
    await vi.waitUntil(() => testNode.output.stdout.includes('configuration reloaded'), waitOptions);
    expect(await sendAndReadIssues()).toEqual(['0']);
    expect(await sendAndReadIssues(errorReply(401))).toEqual(['2', toIssue(401)]);
    expect(await sendAndReadIssues(success)).toEqual(['0']);
  });

  it('keeps an upstream paused if a reload changes only its key', async () => {
    await using upstreamServer = await startScriptedUpstream(errorReply(429, { 'retry-after': '50' }));
    const keys = { [callerKey]: { project: 'test', role: 'admin' } };
    const toModels = (upstream: object) => ({ keyed: { upstreams: [{ endpoint: upstreamServer.endpoint, ...upstream }] } });
    await using testNode = await startProcess({ configuration: { models: toModels({ key: 'one' }), keys } });
    await testNode.chat('keyed', { messages: hello });
    const reload = async (upstream: object) => {
      const before = testNode.output.stdout.split('configuration reloaded').length;
      await testNode.configure({ models: toModels(upstream), keys });
      await vi.waitUntil(() => testNode.output.stdout.split('configuration reloaded').length > before, waitOptions);
      const { json } = await testNode.sendRequest({ method: 'GET', path: '/v1/admin/state', headers: { 'api-key': callerKey } });
      return (json as NodeReport).upstreams[0]?.state;
    };
    expect(await reload({ key: 'two' })).toBe('rate_limited');
    expect(await reload({})).toBe('rate_limited');
    expect(await reload({ key: 'two', weight: 2 })).toBe('ok');
  });

  it('reflects a block of a user immediately, with SQLite and without Redis', async () => {
    const keys = { [callerKey]: { project: 'test', role: 'admin' }, 'other-key': { project: 'other' } };
    const models = { demo: { upstreams: [{ protocol: 'demo' }] } };
    await using testNode = await startProcess({ configuration: { models, keys } });
    const readStatus = async (method: string, path: string, key: string) =>
      (await testNode.sendRequest({ method, path, headers: { 'api-key': key } })).status;
    expect(await readStatus('GET', '/v1/models', 'other-key')).toBe(200);
    expect(await readStatus('PUT', '/v1/admin/blocked-users/key%3Aother', callerKey)).toBe(201);
    expect(await readStatus('GET', '/v1/models', 'other-key')).toBe(403);
    expect(await readStatus('DELETE', '/v1/admin/blocked-users/key%3Aother', callerKey)).toBe(204);
    expect(await readStatus('GET', '/v1/models', 'other-key')).toBe(200);
  });

  it('explains why an upstream cannot be reached, like the log', async () => {
    const keys = { [callerKey]: { project: 'test', role: 'admin' } };
    const models = { away: { upstreams: [{ endpoint: 'http://127.0.0.1:1/v1' }], maxRetryAttempts: 1 } };
    await using testNode = await startProcess({ configuration: { models, keys } });
    await testNode.chat('away', { messages: hello });
    const { json } = await testNode.sendRequest({ method: 'GET', path: '/v1/admin/state', headers: { 'api-key': callerKey } });
    const reason = 'The upstream cannot be reached: the connection was refused.';
    expect((json as NodeReport).upstreams[0]?.lastError).toBe(reason);
    await vi.waitUntil(() => testNode.output.stdout.includes(reason), waitOptions);
  });

  it('lists the errors of a rejected reload with their paths until a reload succeeds', async () => {
    await node.configure(configuration({ models: { demo: { upstreams: [{ protocol: 'demo', wieght: 2 }] } } }));
    const rejected = await vi.waitUntil(async () => {
      const { configuration: now } = await state();
      return now.faults.length > 0 && now;
    }, waitOptions);
    expect(rejected.faults).toEqual([
      {
        file: rejected.files[0],
        path: 'models.demo.upstreams[0].wieght',
        message: expect.any(String),
        hint: expect.stringContaining('weight'),
      },
    ]);
    expect(rejected.refusedAt).toBeGreaterThan(rejected.loadedAt);
    await node.configure(configuration());
    const loaded = await vi.waitUntil(async () => {
      const { configuration: now } = await state();
      return now.faults.length === 0 && now;
    }, waitOptions);
    expect(loaded.loadedAt).toBeGreaterThan(rejected.loadedAt);
    expect(loaded.refusedAt).toBeNull();
    const { data } = await vi.waitUntil(async () => {
      const page = await read<{ data: { action: string }[] }>('audit?kind=configuration');
      return page.data.length === 3 && page;
    }, waitOptions);
    expect(data.map(({ action }) => action)).toEqual(['configuration.loaded', 'configuration.refused', 'configuration.loaded']);
  });

  it('counts an inner call and its cost once', async () => {
    const { completion } = await node.chat('app', { messages: hello });
    const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = completion.usage ?? {};
    const { data, total } = await vi.waitUntil(async () => {
      const usage = await read<{ data: object[]; total: { calls: number; completionTokens: number } }>('usage?by=deployment');
      return usage.total.calls === 2 && usage.data.length === 3 && usage;
    }, waitOptions);
    const cost = expect.closeTo((promptTokens ?? 0) * 0.001, 9);
    const figures = { calls: 1, failedCalls: 0, refusedCalls: 0, promptTokens, completionTokens };
    expect(data.slice(0, 2)).toEqual([
      { deployment: 'demo', ...figures, cost },
      { deployment: 'app', ...figures, cost: 0 },
    ]);
    expect(total).toMatchObject({ completionTokens, cost });
  });
});
