import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hello } from '#test/chunks.ts';
import type { TestProcess } from '#test/start-process.ts';
import { type Cluster, get, getHealth, getNode, startCluster, toConfiguration } from './cluster.ts';
import { chatAt, createTask } from './host.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let cluster: Cluster;
let rejectingNode: TestProcess;
let admittingNode: TestProcess;

beforeAll(async () => {
  cluster = await startCluster(2);
  [rejectingNode, admittingNode] = [getNode(cluster, 0), getNode(cluster, 1)];
});

afterAll(() => cluster[Symbol.asyncDispose]());

function waitUntilAvailable(node: TestProcess): Promise<void> {
  return vi.waitFor(async () => expect(await getHealth(node)).toMatchObject({ status: 'ok', codes: [] }), {
    timeout: 10_000,
    interval: 100,
  });
}

function waitUntilUnavailable(node: TestProcess): Promise<void> {
  return vi.waitFor(async () => expect((await getHealth(node)).codes).toEqual(['redis_away']), { timeout: 5_000, interval: 50 });
}

describe('nodes whose Redis stalls', () => {
  it('fail calls that need Redis and serve all other calls', async () => {
    const redis = new Redis(cluster.redis.url);
    const pid = Number(/^process_id:(\d+)/m.exec(await redis.info('server'))?.[1]);
    redis.disconnect();
    process.kill(pid, 'SIGSTOP');
    try {
      const first = rejectingNode.chat('bounded', { messages: hello });
      expect((await rejectingNode.chat('free', { messages: hello })).status).toBe(200);
      expect((await first).status).toBe(503);
      expect((await rejectingNode.chat('bounded', { messages: hello })).status).toBe(503);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await waitUntilAvailable(rejectingNode);
    const isServed = async () => expect((await rejectingNode.chat('bounded', { messages: hello })).status).toBe(200);
    await vi.waitFor(isServed, { timeout: 5_000, interval: 100 });
  });
});

describe('nodes whose Redis is stopped', () => {
  beforeAll(async () => {
    await cluster.redis.stop();
    await Promise.all([waitUntilUnavailable(rejectingNode), waitUntilUnavailable(admittingNode)]);
    return async () => {
      await cluster.redis.start();
      await Promise.all([waitUntilAvailable(rejectingNode), waitUntilAvailable(admittingNode)]);
    };
  });

  it('reject limited calls immediately, stay ready, and serve the rest', async () => {
    for (let call = 0; call < 3; call += 1) {
      const value = await rejectingNode.chat('bounded', { messages: hello });
      expect([value.status, value.error.code, value.headers['retry-after']]).toEqual([503, 'overloaded', '1']);
      expect(value.error.message).toMatch(/limits/);
    }
    expect((await rejectingNode.chat('free', { messages: hello })).status).toBe(200);
    const { content, isDone } = await (await rejectingNode.stream('free', { messages: hello })).readRest();
    expect([content(), isDone]).toEqual(['xx', true]);
    expect((await getHealth(rejectingNode)).ready).toBe(200);
    expect((await rejectingNode.chat('weather', { messages: [{ role: 'user', content: 'Count to 1' }] })).status).toBe(200);
  });

  it('reject calls to applications with 503, because they cannot create per-request keys', async () => {
    const before = cluster.host.requests.length;
    const value = await rejectingNode.chat('app', { messages: createTask(chatAt(rejectingNode, 'free')) });
    expect([value.status, value.error.code, value.headers['retry-after']]).toEqual([503, 'overloaded', '1']);
    expect(cluster.host.requests).toHaveLength(before);
    const key = `parley-${'a'.repeat(16)}-${'b'.repeat(43)}`;
    const unknown = await get(rejectingNode, '/v1/user/info', key);
    expect([unknown.status, unknown.error.code]).toEqual([503, 'overloaded']);
    expect((await get(rejectingNode, '/v1/user/info', 'no such key')).status).toBe(401);
  });

  it('admit limited calls if the configuration of one node allows it, and log that', async () => {
    const configuration = { ...toConfiguration(cluster.host.url), limits: { onStoreFailure: 'allow' } };
    await admittingNode.configure(configuration);
    await admittingNode.untilOutput(/configuration reloaded/);
    const value = await admittingNode.chat('bounded', { messages: hello });
    expect(value.status).toBe(200);
    await admittingNode.untilOutput(/could not count a call against its limits/);
    await vi.waitFor(async () => expect((await rejectingNode.chat('bounded', { messages: hello })).status).toBe(200), 8_000);
    await rejectingNode.configure(configuration);
  });
});

describe('nodes whose Redis is available again', () => {
  it('count calls and create keys that the other node accepts', async () => {
    expect((await rejectingNode.chat('bounded', { messages: hello })).headers).toHaveProperty('x-ratelimit-remaining-requests');
    const { completion } = await rejectingNode.chat('app', { messages: createTask(chatAt(admittingNode, 'free')) });
    expect(completion.statistics?.usage_per_model).toMatchObject([{ model: 'free', total_tokens: 12 }]);
  });

  it('accept the keys of calls that were in progress during the outage', async () => {
    const resume = Promise.withResolvers<void>();
    const index = cluster.host.requests.length;
    cluster.host.script(async ({ response }) => {
      await resume.promise;
      response.end('{}');
    });
    const call = rejectingNode.chat('app', { messages: hello });
    const { headers } = await cluster.host.request(index);
    await cluster.redis.stop();
    await waitUntilUnavailable(admittingNode);
    await cluster.redis.start();
    const key = String(headers['api-key']);
    await vi.waitFor(async () => expect((await get(admittingNode, '/v1/user/info', key)).status).toBe(200), 10_000);
    resume.resolve();
    await call;
    await vi.waitFor(async () => expect((await get(admittingNode, '/v1/user/info', key)).status).toBe(401), 8_000);
  });
});
