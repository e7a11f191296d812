import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ConsentForm } from '#contract/consent.ts';
import { hello } from '#test/chunks.ts';
import { sendRequest, type TestResponse } from '#test/send-request.ts';
import type { TestProcess } from '#test/start-process.ts';
import { callerKey, getChatPath, withKey } from '#test/start-service.ts';
import { type Cluster, demoQuickApp, get, getNode, startCluster } from './cluster.ts';
import { chatAt, createTask, type InnerResult, type Task } from './host.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let cluster: Cluster;
let first: TestProcess;
let second: TestProcess;
let third: TestProcess;

beforeAll(async () => {
  cluster = await startCluster(3);
  [first, second, third] = [getNode(cluster, 0), getNode(cluster, 1), getNode(cluster, 2)];
});

afterAll(() => cluster[Symbol.asyncDispose]());

function chat(node: TestProcess, deployment: string, key = callerKey): Promise<TestResponse> {
  return sendRequest(node.url, { path: getChatPath(deployment), headers: withKey(key), body: { messages: hello } });
}

type Stats = Record<string, { total: number | null; used: number }>;

async function getUsed(node: TestProcess, deployment: string, window: string, key = callerKey): Promise<number | undefined> {
  return ((await get(node, `/v1/deployments/${deployment}/limits`, key)).json as Stats)[window]?.used;
}

/** Sends a task to the application through a node. Returns the results of the task and the answer. */
async function runApplicationTask(
  node: TestProcess,
  ...requests: Task['ask']
): Promise<{ results: readonly InnerResult[]; answer: TestResponse }> {
  const answer = await node.chat('app', { messages: createTask(...requests) });
  expect(answer.status).toBe(200);
  return { results: JSON.parse(String(answer.completion.choices[0]?.message.content)) as InnerResult[], answer };
}

function del(node: TestProcess, path: string, key = callerKey): Promise<TestResponse> {
  return sendRequest(node.url, { method: 'DELETE', path, headers: { 'api-key': key } });
}

function put(
  node: TestProcess,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<TestResponse> {
  return sendRequest(node.url, { method: 'PUT', path, headers: { ...withKey(), ...headers }, body });
}

describe('three nodes with one limit', () => {
  it('admit exactly as many concurrent calls as the limit, and report the same usage', async () => {
    const calls = Array.from({ length: 90 }, (_, index) => chat(getNode(cluster, index % 3), 'bounded'));
    const answers = await Promise.all(calls);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(30);
    const rejections = answers.filter(({ status }) => status !== 200);
    expect(new Set(rejections.map(({ status, error }) => `${status} ${error.code}`))).toEqual(
      new Set(['429 request_limit_exceeded']),
    );
    for (const { headers, error } of rejections) {
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect(headers['x-ratelimit-remaining-requests']).toBe('0');
      expect(error.message).toContain('(30 of 30)');
    }
    for (const node of cluster.nodes) expect(await getUsed(node, 'bounded', 'dayRequestStats')).toBe(30);
    expect((await chat(second, 'bounded', 'other')).status).toBe(200);
  });

  it('count tokens together, including those of calls whose client disconnected', async () => {
    for (let call = 1; call <= 8; call += 1) {
      expect((await chat(getNode(cluster, call % 3), 'counted')).status).toBe(200);
      await vi.waitFor(async () => expect(await getUsed(first, 'counted', 'dayTokenStats')).toBe(call * 12), 8_000);
    }
    const reader = await second.stream('counted', { messages: [{ role: 'user', content: '1000' }] });
    await reader.next();
    await reader.next();
    reader.disconnect();
    await vi.waitFor(async () => expect(await getUsed(third, 'counted', 'dayTokenStats')).toBeGreaterThan(96), 8_000);
    expect((await chat(third, 'counted')).status).toBe(200);
    await vi.waitFor(async () => expect(await getUsed(third, 'counted', 'dayTokenStats')).toBeGreaterThan(108), 8_000);
    for (const node of cluster.nodes) expect((await chat(node, 'counted')).error.code).toBe('token_limit_exceeded');
  });

  it('count cost together', async () => {
    for (let call = 1; call <= 6; call += 1) {
      expect((await chat(getNode(cluster, call % 3), 'priced', 'spender')).status).toBe(200);
      const getCost = () => getUsed(first, 'priced', 'dayCostStats', 'spender');
      await vi.waitFor(async () => expect(await getCost()).toBeCloseTo(call * 0.017, 6), 8_000);
    }
    for (const node of cluster.nodes) expect((await chat(node, 'priced', 'spender')).error.code).toBe('cost_limit_exceeded');
  });
});

describe('consent', () => {
  const path = '/v1/consent/app';

  it('applies on all nodes immediately, and so does its withdrawal', async () => {
    const guarded = async (via: TestProcess, target: TestProcess) =>
      (await runApplicationTask(via, chatAt(target, 'guarded'))).results[0]?.status;
    for (const [giver, taker] of [
      [first, second],
      [second, third],
      [third, first],
    ] as const) {
      expect(await guarded(first, taker)).toBe(403);
      const { consent } = (await get(taker, path)).json as { consent: ConsentForm };
      expect((await sendRequest(giver.url, { path, headers: withKey(), body: { consent } })).json).toEqual({ accepted: true });
      expect(await guarded(second, taker)).toBe(200);
      expect((await get(taker, path)).json).toEqual({ accepted: true });
      expect((await del(taker, path)).status).toBe(204);
      expect(await guarded(third, giver)).toBe(403);
    }
  });

  it('cannot be given by the application on any node', async () => {
    const { consent } = (await get(first, path)).json as { consent: ConsentForm };
    const requests = cluster.nodes.map(({ url }) => ({ url, path, body: { consent } }));
    expect((await runApplicationTask(first, ...requests)).results.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect((await get(second, path)).json).toMatchObject({ accepted: false });
  });
});

describe('per-request key', () => {
  it('works on all nodes, and its usage is reported to the first node and charged once', async () => {
    const { results, answer } = await runApplicationTask(
      first,
      chatAt(second, 'free'),
      chatAt(third, 'free'),
      chatAt(first, 'free'),
    );
    expect(results.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answer.completion.statistics?.usage_per_model).toMatchObject([
      { model: 'free', prompt_tokens: 21, completion_tokens: 15, total_tokens: 36 },
    ]);
    expect(answer.completion.usage).toMatchObject({ total_tokens: 36 });
  });

  it('is rejected by every node after its call has ended', async () => {
    await runApplicationTask(second, chatAt(third, 'free'));
    const { headers } = cluster.host.requests.findLast(({ path }) => path === '/app') ?? expect.unreachable();
    for (const node of cluster.nodes) {
      const { status, error } = await chat(node, 'free', String(headers['api-key']));
      expect([status, error.code]).toEqual([401, 'invalid_api_key']);
    }
  });
});

describe('nodes with shared storage', () => {
  it('read, replace, and delete each other’s files, and give applications access to them', async () => {
    const { bucket } = (await get(first, '/v1/bucket')).json as { bucket: string };
    expect((await get(second, '/v1/bucket')).json).toEqual({ bucket });
    const path = `/v1/files/${bucket}/notes/one.txt`;
    expect((await put(first, path, 'one', { 'content-type': 'text/plain' })).status).toBe(200);
    expect((await get(second, path)).text).toBe('one');
    expect((await put(second, path, 'two', { 'content-type': 'text/plain' })).status).toBe(200);
    expect((await get(third, path)).text).toBe('two');
    const attachments = [{ type: 'text/plain', url: `files/${bucket}/notes/one.txt` }];
    const [message] = createTask(
      { url: third.url, method: 'GET', path },
      { url: second.url, method: 'GET', path: `${path}.other` },
    );
    const { completion } = await first.chat('app', { messages: [{ ...message, custom_content: { attachments } }] });
    expect(JSON.parse(String(completion.choices[0]?.message.content))).toMatchObject([
      { status: 200, text: 'two' },
      { status: 403 },
    ]);
    expect((await del(third, path)).status).toBe(204);
    expect((await get(first, path)).status).toBe(404);
    expect((await cluster.s3.names()).objects).toEqual([]);
  });

  it('read, list, call, and delete each other’s saved applications', async () => {
    const { bucket } = (await get(first, '/v1/bucket')).json as { bucket: string };
    const [own, quick] = [`applications/${bucket}/own`, `applications/${bucket}/quick`];
    const entry = { displayName: 'Own', endpoint: `${cluster.host.url}/app`, dependencies: ['free'] };
    expect((await put(first, `/v1/${own}`, entry)).status).toBe(201);
    expect((await put(second, `/v1/${quick}`, demoQuickApp)).status).toBe(201);
    expect((await get(third, `/v1/${own}`)).json).toMatchObject({ id: own, displayName: 'Own' });
    const answer = await third.chat(own, { messages: createTask(chatAt(first, 'free')) });
    expect(answer.completion.statistics?.usage_per_model).toMatchObject([{ model: 'free', total_tokens: 12 }]);
    expect(
      (await first.chat(quick, { messages: [{ role: 'user', content: 'Count to 1' }] })).completion.choices[0]?.finish_reason,
    ).toBe('stop');
    const { data } = (await get(third, '/openai/applications')).json as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining([own, quick]));
    for (const id of [own, quick]) expect((await del(third, `/v1/${id}`)).status).toBeLessThan(300);
    expect((await chat(first, own)).status).toBe(404);
    expect((await chat(second, quick)).status).toBe(404);
  });

  it('accept each other’s signed states unless they were modified', async () => {
    const question = { role: 'user', content: 'What is the weather in Paris?' };
    const firstAnswer = await first.chat('weather', { messages: [question] });
    expect(firstAnswer.completion.choices[0]?.finish_reason).toBe('function_call');
    const message = firstAnswer.completion.choices[0]?.message ?? expect.unreachable();
    const result = { role: 'function', name: 'get_weather', content: 'Sunny, 23 degrees' };
    const continueWith = (stateMessage: unknown) => second.chat('weather', { messages: [question, stateMessage, result] });
    expect((await continueWith(message)).completion.choices[0]?.finish_reason).toBe('stop');
    const changed: unknown = JSON.parse(JSON.stringify(message).replace(/("parley_run":")./, '$1_'));
    expect(changed).not.toEqual(message);
    expect((await continueWith(changed)).status).toBe(400);
  });
});
