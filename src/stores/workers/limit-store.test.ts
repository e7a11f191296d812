import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ChannelMessage, RequestChannel, type RequestHandler } from '#base/net/request-channel.ts';
import { systemClock } from '#base/time/clock.ts';
import type { Counter, RequestedClaim } from '#domain/limits/limit-store.ts';
import { deploymentWindows } from '#domain/limits/windows.ts';
import { MemoryLimitStore } from '../memory/limit-store.ts';
import { LimitCoordinator } from './limit-coordinator.ts';
import { WorkerLimitStore } from './limit-store.ts';

interface TestWorker {
  readonly store: WorkerLimitStore;
  /** Number of messages that the worker has sent. */
  readonly countSent: () => number;
}

interface TestNode {
  readonly workers: readonly [TestWorker, TestWorker, TestWorker];
  readonly base: MemoryLimitStore;
  readonly coordinator: LimitCoordinator;
  now: number;
}

const opened: WorkerLimitStore[] = [];

afterEach(async () => {
  vi.useRealTimers();
  for (const store of opened.splice(0)) await store.close();
});

/** Connects three workers to a coordinator. Messages arrive in order, in a later turn of the event loop. */
function openNode(): TestNode {
  const base = new MemoryLimitStore();
  const channels = new Map<number, RequestChannel>();
  const node = { now: 0 } as TestNode;
  const clock = { ...systemClock, epochMs: () => node.now };
  const coordinator = new LimitCoordinator({
    store: base,
    clock,
    workerCount: 3,
    recall: async (worker, holders, onLate) => (await channels.get(worker)?.request('limits.recall', holders, { onLate })) as [],
  });
  const open = (worker: number): TestWorker => {
    let sent = 0;
    const workerHandlers = new Map<string, RequestHandler>();
    const toWorker = new RequestChannel((message) => deliver(() => toPrimary, message), createHandlers(coordinator, worker));
    const toPrimary: RequestChannel = new RequestChannel((message) => {
      sent += 1;
      deliver(() => toWorker, message);
    }, workerHandlers);
    channels.set(worker, toWorker);
    const store = new WorkerLimitStore(toPrimary, clock);
    workerHandlers.set('limits.recall', store.returnShares);
    opened.push(store);
    return { store, countSent: () => sent };
  };
  return Object.assign(node, { workers: [open(1), open(2), open(3)] as const, base, coordinator });
}

function deliver(channel: () => RequestChannel, message: ChannelMessage): void {
  const text = JSON.stringify(message);
  setImmediate(() => channel().receive(JSON.parse(text) as ChannelMessage));
}

function createHandlers(coordinator: LimitCoordinator, worker: number): ReadonlyMap<string, RequestHandler> {
  return new Map<string, RequestHandler>([
    ['limits.reserve', (message: never) => coordinator.reserve(worker, message)],
    ['limits.settle', (message: never) => coordinator.settle(worker, message)],
    ['limits.report', (message: never) => coordinator.report(worker, message)],
    ['limits.return', (message: never) => coordinator.applyReturned(worker, message)],
  ]);
}

const endsAtMs = 1_000;
const requests = (total: number, amount = 1, ends = endsAtMs): Counter => ({
  ...{ window: deploymentWindows.requestDay, holder: 'm\nada', endsAtMs: ends },
  ...{ total, amount, claimIndex: -1 },
});
const tokens = (total: number, amount = 0, ends = endsAtMs): Counter => ({
  ...{ window: deploymentWindows.day, holder: 'm\nada', endsAtMs: ends },
  ...{ total, amount, claimIndex: 0 },
});
const claim = (amount: number): RequestedClaim => ({ kind: 'tokens', holder: 'm\nada', amount, exemptAmount: 0 });

/** Sends a call with an estimate of 10 tokens. Returns the function that ends it, or undefined if it is not admitted. */
async function call({ store }: TestWorker, counters: readonly Counter[]): Promise<((used: number) => void) | undefined> {
  const { used, reserved, lease } = await store.reserve(counters, [claim(10)]);
  const isAdmitted = counters.every(
    ({ window, total }, index) => (used[index] ?? 0) + (window.kind === 'tokens' ? (reserved[0] ?? 0) : 0) < total,
  );
  const [last] = counters.filter(({ window }) => window.kind === 'tokens');
  if (!isAdmitted || last === undefined) return undefined;
  return (amount) => store.settle([{ ...last, amount }], { claims: [claim(10)], lease });
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function readUsed({ store }: TestWorker, counters: readonly Counter[]): Promise<readonly number[]> {
  await turn();
  const { used } = await store.reserve(
    counters.map((counter) => ({ ...counter, amount: 0 })),
    [claim(0)],
  );
  return used;
}

describe('WorkerLimitStore', () => {
  it('needs no message for a call that its share covers', async () => {
    const { workers } = openNode();
    (await call(workers[0], [requests(100_000), tokens(1_000_000)]))?.(8);
    const before = workers[0].countSent();
    for (let count = 0; count < 100; count += 1) (await call(workers[0], [requests(100_000), tokens(1_000_000)]))?.(8);
    expect(workers[0].countSent()).toBe(before);
    expect(await readUsed(workers[1], [requests(100_000), tokens(1_000_000)])).toEqual([101, 101 * 8]);
  });

  it.each([
    ['requests', 700, 1_000_000, 700],
    ['tokens', 1_000_000, 6_000, 600],
  ])(
    'admits exactly the calls that a limit of %s allows, from all workers concurrently',
    async (_kind, maxRequests, maxTokens, admitted) => {
      const { workers } = openNode();
      const counters = [requests(maxRequests), tokens(maxTokens)];
      let count = 0;
      const run = async (worker: TestWorker): Promise<void> => {
        for (let turns = 0; turns < 400; turns += 1) {
          const settle = await call(worker, counters);
          if (settle !== undefined) count += 1;
          if (turns % 7 === 0) await turn();
          settle?.(10);
        }
      };
      await Promise.all(workers.map(run));
      expect(count).toBe(admitted);
      expect(await readUsed(workers[2], counters)).toEqual([admitted, admitted * 10]);
    },
  );

  it('counts the reservations of all workers in the next period', async () => {
    const node = openNode();
    const total = 4_000;
    const open: ((used: number) => void)[] = [];
    const fill = async (ends: number): Promise<void> => {
      for (;;) {
        const settles = await Promise.all(node.workers.map((worker) => call(worker, [tokens(total, 0, ends)])));
        const admitted = settles.filter((settle) => settle !== undefined);
        open.push(...admitted);
        if (admitted.length === 0) return;
      }
    };
    await fill(endsAtMs);
    expect(open.length * 10).toBe(total);
    node.now = endsAtMs;
    await fill(2 * endsAtMs);
    expect(open.length * 10).toBe(total);
  });

  it.each([
    [20, undefined],
    [19, expect.any(Function)],
  ])(
    'checks the limits whose period continues if that of another limit ends on the way, after %d of 20 tokens',
    async (used, end) => {
      const node = openNode();
      const ofMonth = { ...tokens(20, 0, 5 * endsAtMs), window: deploymentWindows.month };
      const first = await call(node.workers[0], [requests(100), ofMonth]);
      first?.(used);
      await turn();
      const late = call(node.workers[0], [requests(100), ofMonth]);
      node.now = endsAtMs;
      expect(await late).toEqual(end);
      expect(node.base.reserve([], [claim(0)]).reserved).toEqual([end === undefined ? 0 : 10]);
    },
  );

  it('releases the shares and reservations of a worker that ends', async () => {
    const { workers, coordinator, base } = openNode();
    const counters = [tokens(10_000)];
    for (let count = 0; count < 50; count += 1) await call(workers[0], counters);
    await call(workers[1], counters);
    coordinator.remove(1);
    expect(await readUsed(workers[1], counters)).toEqual([0]);
    expect(base.reserve([tokens(10_000)], [claim(0)]).reserved).toEqual([10]);
  });

  it('reserves nothing for a worker that ends while shares are recalled for its call', async () => {
    const { workers, coordinator, base } = openNode();
    await call(workers[1], [tokens(10_000)]);
    const pending = call(workers[0], [tokens(10_000, 0, 2 * endsAtMs)]);
    await turn();
    coordinator.remove(1);
    await expect(pending).rejects.toThrow('the limits could not be checked');
    expect(base.reserve([], [claim(0)]).reserved).toEqual([10]);
  });

  it('releases the reservation and uses the shares of an answer that arrives after the timeout', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { workers, base } = openNode();
    const counters = [requests(100_000), tokens(1_000_000)];
    const pending = call(workers[0], counters);
    vi.advanceTimersByTime(5_000);
    await expect(pending).rejects.toThrow('the limits could not be checked');
    for (let count = 0; count < 3; count += 1) await turn();
    expect(base.reserve([], [claim(0)]).reserved).toEqual([0]);
    const before = workers[0].countSent();
    (await call(workers[0], counters))?.(8);
    expect(workers[0].countSent()).toBe(before);
  });

  it('releases nothing if an answer after the timeout rejects the call', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { workers, base } = openNode();
    await call(workers[1], [tokens(10)]);
    const pending = call(workers[0], [tokens(10)]);
    vi.advanceTimersByTime(5_000);
    await expect(pending).rejects.toThrow('the limits could not be checked');
    for (let count = 0; count < 3; count += 1) await turn();
    expect(base.reserve([], [claim(0)]).reserved).toEqual([10]);
  });

  it('counts the usage and reservations of shares that a worker returns too late', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { workers, base } = openNode();
    const counters = [tokens(10_000)];
    for (let count = 0; count < 3; count += 1) await call(workers[1], counters);
    (await call(workers[1], counters))?.(8);
    const pending = call(workers[0], [tokens(10_000, 0, 2 * endsAtMs)]);
    await turn();
    vi.advanceTimersByTime(5_000);
    await expect(pending).rejects.toThrow('the limits could not be checked');
    for (let count = 0; count < 3; count += 1) await turn();
    expect(base.reserve(counters, [claim(0)])).toMatchObject({ used: [8], reserved: [30] });
  });

  it('reports used shares, so that they survive the worker', async () => {
    const { workers, coordinator } = openNode();
    const counters = [requests(100_000), tokens(1_000_000)];
    for (let count = 0; count < 20; count += 1) (await call(workers[0], counters))?.(8);
    await new Promise((resolve) => setTimeout(resolve, 300));
    coordinator.remove(1);
    expect(await readUsed(workers[1], counters)).toEqual([20, 160]);
  });
});
