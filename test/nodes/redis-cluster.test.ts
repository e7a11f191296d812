import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hello } from '#test/chunks.ts';
import { makeCertificates } from '#test/make-certificates.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { startProcess, type TestProcess } from '#test/start-process.ts';
import { startRedisCluster, startSentinel, type TestRedisCluster } from '#test/start-redis-topology.ts';
import { getHealth, secret, toConfiguration } from './cluster.ts';
import { answerAsHost, chatAt, createTask } from './host.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const limit = 300;
const concurrency = 50;
/** A key of the limits, which are all in one slot. */
const limitsKey = 'parley:{limits}:leases';

let host: ScriptedUpstream;

/** Returns a configuration whose limits belong to one test. */
function withLimit(model: string): object {
  const configuration = toConfiguration(host.url) as { readonly models: Readonly<Record<string, object>> };
  const models = { ...configuration.models, [model]: configuration.models.free };
  return { ...configuration, models, roles: { default: { limits: { [model]: { requestDay: limit } } } } };
}

function startNode(redisUrl: string, model: string): Promise<TestProcess> {
  const environment = { PARLEY_REDIS_URL: redisUrl, PARLEY_SECRET: secret };
  return startProcess({ configuration: withLimit(model), environment });
}

/** Sends calls from several clients. Each repeats a call that gets 503, until it is admitted or over the limit. */
async function sendCalls(nodes: readonly TestProcess[], model: string, count: number) {
  const statuses = new Map<number, number>();
  const countStatus = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
  let started = 0;
  const runClient = async (client: number): Promise<void> => {
    const node = nodes[client % nodes.length] ?? expect.unreachable();
    while (started < count) {
      started += 1;
      for (;;) {
        const { status } = await node.chat(model, { messages: hello });
        countStatus(status);
        if (status !== 503) break;
        await sleep(100);
      }
    }
  };
  const clients = Promise.all(Array.from({ length: concurrency }, (_, client) => runClient(client)));
  return { statuses, hasStarted: (calls: number) => vi.waitUntil(() => started >= calls, { interval: 1 }), ended: clients };
}

beforeAll(async () => {
  host = await startScriptedUpstream(answerAsHost);
});

afterAll(() => host.close());

describe('nodes with a Redis Cluster', () => {
  let cluster: TestRedisCluster;
  let nodes: readonly TestProcess[];
  let node: TestProcess;
  let other: TestProcess;

  beforeAll(async () => {
    cluster = await startRedisCluster();
    nodes = await Promise.all([startNode(cluster.url, 'failing'), startNode(cluster.url, 'failing')]);
    [node = expect.unreachable(), other = expect.unreachable()] = nodes;
  });

  afterAll(async () => {
    for (const each of nodes) await each[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  it('accept the keys of each other, and exchange usage', async () => {
    expect(await getHealth(node)).toMatchObject({ status: 'ok', ready: 200 });
    const { completion } = await node.chat('app', { messages: createTask(chatAt(other, 'free')) });
    expect(completion.statistics?.usage_per_model).toMatchObject([{ model: 'free', total_tokens: 12 }]);
  });

  it('admit concurrent calls right after their start', async () => {
    await using fresh = await startNode(cluster.url, 'fresh');
    const replies = await Promise.all(Array.from({ length: 100 }, () => fresh.chat('fresh', { messages: hello })));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('count each call once while the slot of the limits moves', async () => {
    const { statuses, hasStarted, ended } = await sendCalls(nodes, 'failing', 150);
    await hasStarted(50);
    const before = await cluster.findPrimary(limitsKey);
    await cluster.moveSlot(limitsKey, () => sleep(200));
    await ended;
    expect((await cluster.findPrimary(limitsKey)).port).not.toBe(before.port);
    expect([...statuses.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    const { headers } = await node.chat('failing', { messages: hello });
    const remaining = Number(headers['x-ratelimit-remaining-requests']);
    expect(remaining).toBeLessThanOrEqual(limit - 151);
    // A call that timed out may have been counted.
    expect(remaining).toBeGreaterThanOrEqual(limit - 151 - (statuses.get(503) ?? 0));
  });

  it('exceed a limit at most by the calls in flight when its primary fails, and serve again after the failover', async () => {
    const { statuses, hasStarted, ended } = await sendCalls(nodes, 'failing', 500);
    await hasStarted(100);
    await (await cluster.findPrimary(limitsKey)).kill();
    await ended;
    const admitted = (statuses.get(200) ?? 0) + 151;
    expect([...statuses.keys()].sort()).toEqual([200, 429, 503]);
    expect(admitted).toBeGreaterThanOrEqual(limit - concurrency);
    expect(admitted).toBeLessThanOrEqual(limit + concurrency);
    await vi.waitFor(async () => expect(await getHealth(node)).toMatchObject({ status: 'ok', codes: [] }), 10_000);
    const { completion } = await other.chat('app', { messages: createTask(chatAt(node, 'free')) });
    expect(completion.statistics?.usage_per_model).toMatchObject([{ model: 'free', total_tokens: 12 }]);
  });
});

describe('nodes with a Redis Cluster that requires TLS', () => {
  it('verify its host names, follow its slots, and share the limits', async () => {
    await using certificates = await makeCertificates();
    await using cluster = await startRedisCluster({ certificates });
    await using node = await startNode(cluster.url, 'encrypted');
    await using other = await startNode(cluster.url, 'encrypted');
    expect(await getHealth(node)).toMatchObject({ status: 'ok', ready: 200 });
    const { completion } = await node.chat('app', { messages: createTask(chatAt(other, 'free')) });
    expect(completion.statistics?.usage_per_model).toMatchObject([{ model: 'free', total_tokens: 12 }]);
    const { statuses, ended } = await sendCalls([node, other], 'encrypted', limit + 50);
    await ended;
    // A call that timed out may have been counted.
    const [admitted = 0, failed = 0] = [statuses.get(200), statuses.get(503)];
    expect(admitted).toBeLessThanOrEqual(limit);
    expect(admitted).toBeGreaterThanOrEqual(limit - failed);
    expect(statuses.get(429)).toBe(limit + 50 - admitted);
  });
});

describe('nodes with a Redis behind sentinels', () => {
  it('continue with the counters on the new primary', async () => {
    await using sentinel = await startSentinel();
    await using node = await startNode(sentinel.url, 'sentinel');
    const call = () => node.chat('sentinel', { messages: hello });
    for (let calls = 0; calls < 5; calls += 1) expect((await call()).status).toBe(200);
    await vi.waitFor(async () => expect(await sentinel.primary.client.wait(1, 100)).toBe(1));
    await sentinel.primary.kill();
    expect((await call()).status).toBe(503);
    await sentinel.waitForFailover();
    const served = await vi.waitUntil(async () => {
      const { status, headers } = await call();
      return status === 200 && headers;
    }, 10_000);
    expect(served['x-ratelimit-remaining-requests']).toBe(String(limit - 6));
  });
});
