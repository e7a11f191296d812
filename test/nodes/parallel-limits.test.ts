import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hello } from '#test/chunks.ts';
import { openStream, sendRequest } from '#test/send-request.ts';
import type { TestProcess } from '#test/start-process.ts';
import { getChatPath, withKey } from '#test/start-service.ts';
import { type Cluster, expectAdmitted, get, getNode, startCluster } from './cluster.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

/** Each limit has its own deployment and key, so the calls of one do not prepare the nodes for the other. */
const callers = [
  ['tokens', 'crowded', 'other', 'monthTokenStats'],
  ['money', 'priced', 'crowd', 'monthCostStats'],
] as const;

type Stats = Readonly<Record<string, { readonly used: number; readonly reserved?: number }>>;

async function getStats(node: TestProcess, deployment: string, key: string, window: string): Promise<Stats[string]> {
  return ((await get(node, `/v1/deployments/${deployment}/limits`, key)).json as Stats)[window] ?? expect.unreachable();
}

/** Returns the number of answers for each status of 500 concurrent calls, distributed over the nodes. */
async function sendCalls({ nodes }: Cluster, deployment: string, key: string): Promise<Record<number, number>> {
  const sums: Record<number, number> = {};
  const calls = Array.from({ length: 500 }, (_, index) => {
    const { url } = nodes[index % nodes.length] ?? expect.unreachable();
    return sendRequest(url, { path: getChatPath(deployment), headers: withKey(key), body: { messages: hello } });
  });
  for (const { status } of await Promise.all(calls)) sums[status] = (sums[status] ?? 0) + 1;
  return sums;
}

describe.each([1, 3])('limit for 50 calls, with 500 concurrent calls on %i new nodes', (count) => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startCluster(count);
  });

  afterAll(() => cluster[Symbol.asyncDispose]());

  it.each(callers)('of %s admits 50 calls and rejects the rest only for that limit', async (_kind, deployment, key, window) => {
    await expectAdmitted(50, () => sendCalls(cluster, deployment, key));
    const worth = deployment === 'priced' ? 0.85 : 600;
    for (const node of cluster.nodes) expect((await getStats(node, deployment, key, window)).used).toBe(worth);
  });
});

describe('maxParallel of a key on three nodes', () => {
  it('admits exactly that many calls at a time, and releases those of a killed node', async () => {
    await using cluster = await startCluster(3);
    const body = { messages: [{ role: 'user', content: '400' }], stream: true };
    const open = (index: number) =>
      openStream(getNode(cluster, index % 3).url, { path: getChatPath('free'), headers: withKey('narrow'), body });
    const streams = await Promise.all(Array.from({ length: 60 }, (_, index) => open(index)));
    expect(streams.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(streams.filter(({ status }) => status === 429)).toHaveLength(40);
    const [victim, other] = [getNode(cluster, 0), getNode(cluster, 1)];
    const countUsed = async (): Promise<number | undefined> => {
      const { scopes } = (await get(other, '/v1/deployments/free/limits', 'narrow')).json as {
        scopes: readonly { readonly window: string; readonly used: number }[];
      };
      return scopes.find(({ window }) => window === 'calls.parallel')?.used;
    };
    expect(await countUsed()).toBe(20);
    victim.kill('SIGKILL');
    for (const stream of streams) stream.disconnect();
    const lost = streams.filter(({ status }, index) => status === 200 && index % 3 === 0).length;
    await vi.waitFor(async () => expect(await countUsed()).toBe(lost), 20_000);
    const redis = new Redis(cluster.redis.url);
    // Expires the rest of the minute immediately.
    for (const lease of await redis.hkeys('parley:{limits}:leases')) await redis.hset('parley:{limits}:leases', lease, 1);
    redis.disconnect();
    expect(await countUsed()).toBe(0);
  });
});

const seconds = (count: number) => new Promise((resolve) => setTimeout(resolve, count * 1_000));

describe('new nodes that cannot read from Redis for 3 s', () => {
  it('reject no call because of the delay', async () => {
    await using cluster = await startCluster(2);
    const redis = new Redis(cluster.redis.url);
    const store = Number(/^process_id:(\d+)/m.exec(await redis.info('server'))?.[1]);
    redis.disconnect();
    const nodes = cluster.nodes.map(({ pid }) => pid);
    process.kill(store, 'SIGSTOP');
    const calls = Array.from({ length: 60 }, (_, index) => getNode(cluster, index % 2).chat('bounded', { messages: hello }));
    await seconds(1);
    for (const pid of nodes) process.kill(pid, 'SIGSTOP');
    process.kill(store, 'SIGCONT');
    await seconds(3);
    for (const pid of nodes) process.kill(pid, 'SIGCONT');
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([...Array(30).fill(200), ...Array(30).fill(429)]);
  });
});

describe('node that is killed', () => {
  it('keeps its reservations for at most a minute', async () => {
    await using cluster = await startCluster(2);
    const [victim, other] = [getNode(cluster, 0), getNode(cluster, 1)];
    cluster.host.script(() => undefined);
    const interrupted = Promise.allSettled(
      [1, 2].map(() =>
        sendRequest(victim.url, { path: getChatPath('priced'), headers: withKey('crowd'), body: { messages: hello } }),
      ),
    );
    await cluster.host.request(0);
    const reserved = async () => (await getStats(other, 'priced', 'crowd', 'monthCostStats')).reserved;
    expect(await reserved()).toBeGreaterThan(0);
    victim.kill('SIGKILL');
    await interrupted;
    expect(await reserved()).toBeGreaterThan(0);
    const redis = new Redis(cluster.redis.url);
    const leases = await redis.hgetall('parley:{limits}:leases');
    const [[lease = '', endsAt] = []] = Object.entries(leases);
    expect(Number(endsAt) - Date.now()).toBeLessThanOrEqual(60_000);
    expect(await redis.pttl('parley:{limits}:leases')).toBeLessThanOrEqual(60_000);
    // Expires the rest of the minute immediately.
    await redis.hset('parley:{limits}:leases', lease, Date.now() - 1);
    expect(await reserved()).toBeUndefined();
    redis.disconnect();
  });
});
