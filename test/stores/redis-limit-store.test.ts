import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import type { Counter } from '#domain/limits/limit-store.ts';
import { deploymentWindows } from '#domain/limits/windows.ts';
import { StoreError } from '#domain/store-error.ts';
import { RedisLimitStore } from '#stores/redis/limit-store.ts';
import { charge, count } from '#test/count.ts';
import { openNode, type RedisNode, type RedisServers, redisStarters } from './redis-support.ts';

const { minute, requestMinute, requestDay } = deploymentWindows;
const endsAtMs = Date.now() + 300_000;

let redis: RedisServers;
let nodes: readonly RedisNode[];

function getLink(index: number): RedisNode['link'] {
  return nodes[index]?.link ?? expect.unreachable();
}

function openStore(index: number, epochMs = systemClock.epochMs): RedisLimitStore {
  return new RedisLimitStore(getLink(index), { ...systemClock, epochMs });
}

function counter(fields: Partial<Counter> = {}): Counter {
  return { window: requestMinute, holder: 'm\nuser@example.org', endsAtMs, total: 20, amount: 1, claimIndex: -1, ...fields };
}

/** Reserves tokens for one holder and returns the previous amounts. */
async function reserve(store: RedisLimitStore, amount: number) {
  const claims = [{ kind: 'tokens' as const, holder: 'm\nuser@example.org', amount, exemptAmount: 0 }];
  const outcome = await store.reserve([counter({ window: minute, amount: 0, claimIndex: 0 })], claims);
  return { ...outcome, made: { claims, lease: outcome.lease } };
}

describe.each(redisStarters)('counters in %s that nodes share', (_name, start) => {
  beforeAll(async () => {
    redis = await start();
    nodes = await Promise.all([openNode(redis), openNode(redis), openNode(redis)]);
  });

  beforeEach(() => nodes[0]?.sendToAll((server) => server.flushall()));

  afterAll(async () => {
    for (const node of nodes) await node[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  it('admit exactly N of 5 N concurrent requests on all nodes', async () => {
    const stores = nodes.map((_node, index) => openStore(index));
    const steps = Array.from({ length: 100 }, (_, index) =>
      count(stores[index % stores.length] ?? expect.unreachable(), [counter(), counter({ window: requestDay, total: 1000 })]),
    );
    const before = (await Promise.all(steps)).map(([used = 0]) => used);
    expect(before.filter((used) => used < 20)).toHaveLength(20);
    expect(await count(openStore(1), [counter({ amount: 0 }), counter({ window: requestDay, amount: 0 })])).toEqual([20, 20]);
  });

  it('do not contain user names in Redis', async () => {
    await count(openStore(0), [counter(), counter({ window: requestDay, holder: 'user@example.org' })]);
    const names = Object.keys((await nodes[0]?.readRedis()) ?? {});
    expect(names).toHaveLength(2);
    expect(names.join()).not.toContain('user@example.org');
    for (const name of names) expect(name).toMatch(/^parley:\{limits\}:requests:(minute|day):\d+:[\w-]{43}$/);
  });

  it('are deleted a minute after their period, regardless of the Redis clock', async () => {
    const aYearOffMs = systemClock.epochMs() - 365 * 86_400_000;
    await count(
      openStore(0, () => aYearOffMs),
      [counter({ endsAtMs: aYearOffMs + 5_000 })],
    );
    await count(
      openStore(0, () => aYearOffMs),
      [counter({ endsAtMs: aYearOffMs - 1 })],
    );
    const names = Object.keys((await nodes[0]?.readRedis()) ?? {});
    const lifetimes = await Promise.all(names.map((name) => getLink(0).run((connection) => connection.pttl(name))));
    expect(lifetimes[0]).toBeGreaterThan(55_000);
    expect(lifetimes[0]).toBeLessThanOrEqual(60_000);
    expect(lifetimes[1]).toBeGreaterThan(60_000);
    expect(lifetimes[1]).toBeLessThanOrEqual(65_000);
  });

  it('store no entry if their amount is 0 or their total is reached', async () => {
    await count(openStore(0), [counter({ amount: 0 }), counter({ window: requestDay, total: 0 })]);
    expect(await nodes[0]?.readRedis()).toEqual({});
  });

  it('limit amounts to the largest value of a counter', async () => {
    const store = openStore(0);
    await charge(store, [counter({ amount: 1e300 })]);
    await charge(store, [counter({ amount: 1e300 })]);
    expect(await count(store, [counter({ total: Number.POSITIVE_INFINITY, amount: 0 })])).toEqual([Number.MAX_SAFE_INTEGER]);
    expect(await count(store, [counter({ total: 1e22 })])).toEqual([Number.MAX_SAFE_INTEGER]);
  });

  it('reserve under a lease, which ends with its reservations after the node stops renewing it', async () => {
    const dying = new RedisLimitStore(getLink(0), systemClock, 3_000);
    const { made: leasedClaims } = await reserve(dying, 15);
    const endsAt = () =>
      getLink(0).run(async (redis) => Math.max(...Object.values(await redis.hgetall('parley:{limits}:leases')).map(Number)));
    const first = await endsAt();
    await vi.waitFor(async () => expect(await endsAt()).toBeGreaterThan(first), 20_000);
    expect((await reserve(openStore(1), 0)).reserved).toEqual([15]);
    dying.close();
    await vi.waitFor(async () => expect((await reserve(openStore(1), 0)).reserved).toEqual([0]), 20_000);
    await dying.settle([counter({ window: minute, amount: 7 })], leasedClaims);
    expect(await reserve(openStore(1), 0)).toMatchObject({ used: [7], reserved: [0] });
  });

  it('renew the lease exactly while it has reservations', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const store = new RedisLimitStore(getLink(0), systemClock, 3_000);
      const leasesKey = 'parley:{limits}:leases';
      // Redis executes the commands of a connection in order.
      const isRenewed = () => {
        vi.advanceTimersByTime(3_000);
        return getLink(0).run(async (redis) => (await redis.del(leasesKey)) === 1);
      };
      const claim = (amount: number) => ({ kind: 'tokens' as const, holder: 'm\nuser@example.org', amount, exemptAmount: 0 });
      const { lease } = await store.reserve([counter({ window: minute, total: 0, claimIndex: 0 })], [claim(5)]);
      expect(await isRenewed()).toBe(false);
      await reserve(store, 5);
      expect(await isRenewed()).toBe(true);
      await store.settle([], { claims: [claim(0)], lease });
      expect(await isRenewed()).toBe(true);
      await store.settle([], { claims: [claim(5)], lease });
      expect(await isRenewed()).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });

  it('leave no claim after all claims are settled', async () => {
    const store = openStore(0);
    const { made: leasedClaims } = await reserve(store, 5);
    await store.settle([], leasedClaims);
    expect(Object.keys((await nodes[0]?.readRedis()) ?? {})).toEqual(['parley:{limits}:leases']);
  });

  it('release reservations that could not be released during an outage of Redis', async () => {
    await using own = await start();
    await using node = await openNode(own);
    await using other = await openNode(own);
    const store = new RedisLimitStore(node.link, systemClock, 600_000);
    const { made: leasedClaims } = await reserve(store, 20);
    const observingStore = new RedisLimitStore(other.link, systemClock);
    await other.sendToAll((server) => server.call('CLIENT', 'PAUSE', 60_000, 'WRITE'));
    const settlement = expect(store.settle([], leasedClaims)).rejects.toThrow(StoreError);
    await other.sendToAll((server) => server.call('CLIENT', 'KILL', 'TYPE', 'normal'));
    await settlement;
    await other.sendToAll((server) => server.call('CLIENT', 'UNPAUSE'));
    await vi.waitFor(async () => expect((await reserve(observingStore, 0)).reserved).toEqual([0]), 5_000);
  });

  it('load the script again if Redis has lost it', async () => {
    const store = openStore(0);
    await count(store, [counter()]);
    await nodes[1]?.sendToAll((server) => server.script('FLUSH'));
    expect(await count(store, [counter()])).toEqual([1]);
  });

  it('fail without adding if Redis has another type of value', async () => {
    const store = openStore(0);
    await count(store, [counter(), counter({ window: requestDay })]);
    const name = Object.keys((await nodes[0]?.readRedis()) ?? {}).find((each) => each.includes(':day:')) ?? expect.unreachable();
    await getLink(0).run((connection) => connection.set(name, 'many'));
    await expect(count(store, [counter(), counter({ window: requestDay })])).rejects.toThrow(StoreError);
    expect(await count(store, [counter()])).toEqual([1]);
  });
});
