import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import '#test/same-cases.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#base/time/clock.ts';
import type { Counter, LeasedClaims, LimitStore, RequestedClaim, ReserveOutcome } from '#domain/limits/limit-store.ts';
import { costWindows, deploymentWindows } from '#domain/limits/windows.ts';
import { MemoryLimitStore } from '#stores/memory/limit-store.ts';
import { RedisLimitStore } from '#stores/redis/limit-store.ts';
import { getSharedServer } from '#test/shared-server.ts';
import { openNode, type RedisNode } from './redis-support.ts';

const endsAtMs = Date.now() + 600_000;
const { minute, requestMinute, maxParallel } = deploymentWindows;
const windows = [minute, requestMinute, costWindows.day, maxParallel] as const;
const claimKinds = ['tokens', 'cost', 'calls'] as const;

let nodes: readonly RedisNode[];

type Amounts = Readonly<Record<'tokens' | 'requests' | 'cost' | 'calls', number>>;

/** A step on one of two nodes. `which` selects one of the calls in progress. */
type Step =
  | {
      readonly kind: 'reserve';
      readonly node: number;
      readonly holder: string;
      readonly amounts: Amounts;
      readonly total: number;
    }
  | { readonly kind: 'settle'; readonly which: number; readonly used: Amounts }
  | { readonly kind: 'release' | 'innerCall'; readonly which: number }
  | { readonly kind: 'kill'; readonly node: number };

const amounts = fc.record({ tokens: fc.nat(30), requests: fc.constant(1), cost: fc.nat(30), calls: fc.constant(1) });
const node = fc.nat(1);
const which = fc.nat(100);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('reserve' as const),
        node,
        holder: fc.constantFrom('a', 'b'),
        amounts,
        total: fc.integer({ min: 1, max: 100 }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('settle' as const), which, used: amounts }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('release' as const, 'innerCall' as const), which }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), node }) },
  ),
  { maxLength: 60 },
);

interface CallInProgress {
  readonly node: number;
  readonly holder: string;
  readonly claims: readonly RequestedClaim[];
  /** Leases of the claims, one for each store. */
  readonly leases: readonly string[];
}

/** Returns the counters of a user and of the project that all users share. */
function createCounters(holders: readonly string[], total: number, added: Amounts): Counter[] {
  return holders.flatMap((holder, scope) =>
    windows.map((window) => {
      const claimIndex = window.kind === 'requests' ? -1 : claimKinds.indexOf(window.kind) + claimKinds.length * scope;
      return { window, holder, endsAtMs, total, amount: window.kind === 'calls' ? 0 : added[window.kind], claimIndex };
    }),
  );
}

function createClaims(holders: readonly string[], amounts: Amounts, exempt: Amounts): RequestedClaim[] {
  return holders.flatMap((holder) =>
    claimKinds.map((kind): RequestedClaim => ({ kind, holder, amount: amounts[kind], exemptAmount: exempt[kind] })),
  );
}

const noAmounts: Amounts = { tokens: 0, requests: 0, cost: 0, calls: 0 };

/** Applies the same calls to a store in memory and to nodes that share a Redis. */
class StorePair {
  readonly #run = randomUUID();
  readonly #memory = new MemoryLimitStore();
  readonly #redis: RedisLimitStore[] = [0, 1].map((index) => this.#open(index));
  readonly inProgress: CallInProgress[] = [];

  #open(index: number): RedisLimitStore {
    return new RedisLimitStore(nodes[index]?.link ?? expect.unreachable(), systemClock);
  }

  #toHolders(name: string): readonly string[] {
    return [this.#run + name, `${this.#run}project`];
  }

  async reserve(
    nodeIndex: number,
    name: string,
    { amounts, total, exempt }: { amounts: Amounts; total: number; exempt: Amounts },
  ): Promise<ReserveOutcome> {
    const holders = this.#toHolders(name);
    const claims = createClaims(holders, amounts, exempt);
    const counters = createCounters(holders, total, { ...noAmounts, requests: amounts.requests });
    const stores: LimitStore[] = [this.#memory, this.#redis[nodeIndex] ?? expect.unreachable()];
    const [memoryOutcome, redisOutcome] = await Promise.all(stores.map((store) => store.reserve(counters, claims)));
    if (memoryOutcome === undefined || redisOutcome === undefined) expect.unreachable();
    expect([redisOutcome.used, redisOutcome.reserved]).toEqual([memoryOutcome.used, memoryOutcome.reserved]);
    const isAdmitted = counters.every(
      ({ claimIndex }, index) => (memoryOutcome.used[index] ?? 0) + (memoryOutcome.reserved[claimIndex] ?? 0) < total,
    );
    if (isAdmitted)
      this.inProgress.push({ node: nodeIndex, holder: name, claims, leases: [memoryOutcome.lease, redisOutcome.lease] });
    return memoryOutcome;
  }

  async settle({ node: nodeIndex, holder, claims, leases }: CallInProgress, used: Amounts): Promise<void> {
    this.inProgress.splice(
      this.inProgress.findIndex((call) => call.claims === claims),
      1,
    );
    const counters = createCounters(this.#toHolders(holder), 0, used).filter(({ amount }) => amount > 0);
    const stores: LimitStore[] = [this.#memory, this.#redis[nodeIndex] ?? expect.unreachable()];
    for (const [index, store] of stores.entries()) await store.settle(counters, { claims, lease: leases[index] } as LeasedClaims);
  }

  /** Simulates a node that dies with its calls. Its lease has ended. */
  async kill(nodeIndex: number): Promise<void> {
    const { link } = nodes[nodeIndex] ?? expect.unreachable();
    this.#redis[nodeIndex]?.close();
    await link.run((redis) => redis.hdel('parley:{limits}:leases', `${link.node}.0`));
    for (const { claims } of this.inProgress.filter((call) => call.node === nodeIndex))
      this.#memory.settle([], { claims, lease: '' });
    this.inProgress.splice(0, this.inProgress.length, ...this.inProgress.filter((call) => call.node !== nodeIndex));
    await this.compare();
    this.#redis[nodeIndex] = this.#open(nodeIndex);
  }

  /** Compares the used and reserved amounts. */
  async compare(): Promise<void> {
    for (const name of ['a', 'b']) {
      const { reserved } = await this.reserve(0, name, { amounts: noAmounts, total: 0, exempt: noAmounts });
      const heldClaims = this.inProgress.flatMap(({ claims }) => claims);
      const sum = (kind: string, of: string) =>
        heldClaims.filter((claim) => claim.kind === kind && claim.holder === of).reduce((all, { amount }) => all + amount, 0);
      expect(reserved).toEqual(this.#toHolders(name).flatMap((holder) => claimKinds.map((kind) => sum(kind, holder))));
    }
  }

  [Symbol.dispose](): void {
    for (const store of this.#redis) store.close();
  }
}

async function apply(stores: StorePair, step: Step): Promise<void> {
  if (step.kind === 'kill') return stores.kill(step.node);
  if (step.kind === 'reserve') return void (await stores.reserve(step.node, step.holder, { ...step, exempt: noAmounts }));
  const call = stores.inProgress[step.which % stores.inProgress.length];
  if (call === undefined) return;
  if (step.kind === 'settle') return stores.settle(call, step.used);
  if (step.kind === 'release') return stores.settle(call, noAmounts);
  const [tokens = 0, cost = 0, calls = 0] = call.claims.map(({ amount }) => amount);
  const exempt = { tokens, requests: 0, cost, calls };
  await stores.reserve(1 - call.node, call.holder, { amounts: { tokens: 3, requests: 1, cost: 3, calls: 0 }, total: 40, exempt });
}

describe.each([
  ['Redis', 'redis'],
  ['a Redis Cluster', 'redis-cluster'],
] as const)('reservations in %s', (_name, server) => {
  beforeAll(async () => {
    const url = await getSharedServer(server);
    nodes = await Promise.all([openNode({ url }), openNode({ url })]);
  });

  afterAll(async () => {
    for (const node of nodes) await node[Symbol.asyncDispose]();
  });

  it('are equal to those in memory after any sequence of reservations, settlements, inner calls, and kills', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        using stores = new StorePair();
        for (const step of all) await apply(stores, step);
        await stores.compare();
      }),
      { numRuns: 100 },
    );
  });
});
