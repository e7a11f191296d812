import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import '#test/same-cases.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import type { Counter, LimitStore } from '#domain/limits/limit-store.ts';
import { costWindows, deploymentWindows } from '#domain/limits/windows.ts';
import { MemoryLimitStore } from '#stores/memory/limit-store.ts';
import { RedisLimitStore } from '#stores/redis/limit-store.ts';
import { charge, count } from '#test/count.ts';
import { getSharedServer } from '#test/shared-server.ts';
import { openNode, type RedisNode } from './redis-support.ts';

const { minute, day } = deploymentWindows;
const soonMs = Date.now() + 60_000;
const laterMs = soonMs + 86_400_000;

let node: RedisNode;
let clusterNode: RedisNode;

beforeAll(async () => {
  node = await openNode({ url: await getSharedServer('redis') });
  clusterNode = await openNode({ url: await getSharedServer('redis-cluster') });
});

afterAll(async () => {
  await node[Symbol.asyncDispose]();
  await clusterNode[Symbol.asyncDispose]();
});

const stores: [string, () => LimitStore][] = [
  ['memory', () => new MemoryLimitStore()],
  ['Redis', () => new RedisLimitStore(node.link, systemClock)],
  ['a Redis Cluster', () => new RedisLimitStore(clusterNode.link, systemClock)],
];

describe.each(stores)('counters in %s', (_name, open) => {
  /** Each test has its own holder, because Redis is shared between tests. */
  function setUp(): { store: LimitStore; counter: (fields?: Partial<Counter>) => Counter } {
    const holder = randomUUID();
    return {
      store: open(),
      counter: (fields) => ({ window: minute, holder, endsAtMs: soonMs, total: 10, amount: 1, claimIndex: -1, ...fields }),
    };
  }

  it('return the previous value and add', async () => {
    const { store, counter } = setUp();
    expect(await count(store, [counter(), counter({ window: day, amount: 5 })])).toEqual([0, 0]);
    expect(await count(store, [counter(), counter({ window: day, amount: 0 })])).toEqual([1, 5]);
    expect(await count(store, [counter({ holder: randomUUID() }), counter({ window: day, amount: 0 })])).toEqual([0, 5]);
    expect(await count(store, [])).toEqual([]);
  });

  it('are not increased if one of them has reached its total', async () => {
    const { store, counter } = setUp();
    await count(store, [counter({ window: day, amount: 10 })]);
    expect(await count(store, [counter(), counter({ window: day })])).toEqual([0, 10]);
    expect(await count(store, [counter({ window: day }), counter()])).toEqual([10, 0]);
    expect(await count(store, [counter({ amount: 0 })])).toEqual([0]);
  });

  it('add actual usage beyond the total', async () => {
    const { store, counter } = setUp();
    await count(store, [counter({ amount: 12 })]);
    await charge(store, [counter({ amount: 3 })]);
    expect(await count(store, [counter()])).toEqual([15]);
  });

  it('admit no call if the total is 0 or less', async () => {
    const { store, counter } = setUp();
    expect(await count(store, [counter({ total: 0 })])).toEqual([0]);
    expect(await count(store, [counter({ total: -5 })])).toEqual([0]);
    expect(await count(store, [counter()])).toEqual([0]);
  });

  it('restart with the next period, separately for each window', async () => {
    const { store, counter } = setUp();
    const dayCounter = counter({ window: day, endsAtMs: laterMs });
    await count(store, [counter(), dayCounter]);
    expect(await count(store, [counter({ endsAtMs: soonMs + 60_000 }), dayCounter])).toEqual([0, 1]);
  });

  it('distinguish windows of the same period by their kind', async () => {
    const { store, counter } = setUp();
    await count(store, [counter({ window: day, amount: 7 }), counter({ window: costWindows.day, amount: 2 })]);
    const read = [day, costWindows.day, deploymentWindows.requestDay].map((window) => counter({ window, amount: 0 }));
    expect(await count(store, read)).toEqual([7, 2, 0]);
  });

  it('are exact up to the largest safe integer', async () => {
    const { store, counter } = setUp();
    const huge = Number.MAX_SAFE_INTEGER - 1;
    await charge(store, [counter({ amount: huge - 1 })]);
    await charge(store, [counter({ amount: 1 })]);
    expect(await count(store, [counter({ total: huge })])).toEqual([huge]);
    expect(await count(store, [counter({ total: Number.MAX_SAFE_INTEGER })])).toEqual([huge]);
    expect(await count(store, [counter({ amount: 0 })])).toEqual([Number.MAX_SAFE_INTEGER]);
  });

  it('accept holders of any length and characters, and distinguish them', async () => {
    const { store, counter } = setUp();
    const holders = [
      '',
      '__proto__',
      'constructor',
      'a\nb',
      'a',
      'a:b',
      '{a}',
      '*',
      'ß'.normalize('NFC'),
      '\0',
      'x'.repeat(100_000),
    ];
    for (const [index, holder] of holders.entries())
      await count(store, [counter({ window: costWindows.month, holder, amount: index + 1 })]);
    const read = holders.map((holder) => counter({ window: costWindows.month, holder, amount: 0, total: 100 }));
    expect(await count(store, read)).toEqual(holders.map((_holder, index) => index + 1));
  });

  it('admit exactly the total of concurrent calls', async () => {
    const { store, counter } = setUp();
    const steps = Array.from({ length: 50 }, () => count(store, [counter(), counter({ window: day, total: 30 })]));
    const before = (await Promise.all(steps)).map(([used = 0]) => used);
    expect(before.filter((used) => used < 10).sort((one, other) => one - other)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await count(store, [counter({ window: day, amount: 0 })])).toEqual([10]);
  });

  it('match a plain sum, and never admit calls beyond a total', async () => {
    const step = fc.record({
      holder: fc.constantFrom('a', 'b'),
      window: fc.constantFrom(minute, day),
      total: fc.integer({ min: 1, max: 6 }),
      amount: fc.integer({ min: 0, max: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { store, counter } = setUp();
        const run = randomUUID();
        const sums = new Map<string, number>();
        for (const each of steps) {
          const key = `${each.window.period} ${each.holder}`;
          const sum = sums.get(key) ?? 0;
          expect(await count(store, [counter({ ...each, holder: run + each.holder })])).toEqual([sum]);
          if (sum < each.total) sums.set(key, sum + each.amount);
        }
      }),
      { numRuns: 50 },
    );
  });
});
