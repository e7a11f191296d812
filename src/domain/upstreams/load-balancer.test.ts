import { describe, expect, it } from 'vitest';
import type { Deployment } from '../deployments/deployment.ts';
import { LoadBalancer } from './load-balancer.ts';
import { type Upstream, UpstreamError } from './upstream.ts';

const timeouts = { connectMs: 1, firstByteMs: 1, idleMs: 1 };

function upstream(id: string, facts: Partial<Upstream> = {}): Upstream {
  const unsetFields = { endpoint: undefined, apiVersion: undefined, region: undefined, key: undefined };
  return { ...unsetFields, id, revision: id, protocol: 'openai', model: id, headers: {}, weight: 1, tier: 0, timeouts, ...facts };
}

const noIds: ReadonlySet<string> = new Set();
/** Returns a failure that cannot be caused by a client's request. */
const at = (nowMs: number) => ({ nowMs, caller: undefined });
const limited = (retryAfterSeconds?: number) =>
  new UpstreamError('refused', 'slow down', { status: 429, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) });

const getId = (picked: Upstream | 'full' | undefined) => (picked === 'full' ? picked : picked?.id);

describe('LoadBalancer', () => {
  it('distributes calls smoothly by weight', () => {
    const loadBalancer = new LoadBalancer();
    const upstreams = [upstream('a', { weight: 5 }), upstream('b'), upstream('c')];
    const picked = Array.from({ length: 7 }, () => getId(loadBalancer.pick(upstreams, { triedIds: noIds, nowMs: 0 }))).join('');
    expect(picked).toBe('aabacaa');
  });

  it('never selects an upstream of weight 0', () => {
    const loadBalancer = new LoadBalancer();
    expect(loadBalancer.pick([upstream('a', { weight: 0 })], { triedIds: noIds, nowMs: 0 })).toBeUndefined();
  });

  it('selects a higher tier only if the lower ones are paused', () => {
    const loadBalancer = new LoadBalancer();
    const [low, high] = [upstream('low', { tier: 1 }), upstream('high', { tier: 2 })];
    expect(getId(loadBalancer.pick([high, low], { triedIds: noIds, nowMs: 0 }))).toBe('low');
    loadBalancer.recordRateLimit(low, limited(10), 0);
    expect(getId(loadBalancer.pick([high, low], { triedIds: noIds, nowMs: 9_999 }))).toBe('high');
    expect(getId(loadBalancer.pick([high, low], { triedIds: noIds, nowMs: 10_000 }))).toBe('low');
  });

  it('prefers upstreams that the call has not tried', () => {
    const loadBalancer = new LoadBalancer();
    const upstreams = [upstream('a'), upstream('b', { tier: 1 })];
    expect(getId(loadBalancer.pick(upstreams, { triedIds: new Set(['a']), nowMs: 0 }))).toBe('b');
    expect(getId(loadBalancer.pick(upstreams, { triedIds: new Set(['a', 'b']), nowMs: 0 }))).toBe('a');
  });

  it('pauses an upstream for 30 s after a 429 without Retry-After', () => {
    const loadBalancer = new LoadBalancer();
    const only = upstream('a');
    loadBalancer.recordRateLimit(only, limited(), 0);
    expect(loadBalancer.pick([only], { triedIds: noIds, nowMs: 29_999 })).toBeUndefined();
    expect(loadBalancer.areAllRateLimited([only], 29_999)).toBe(true);
    expect(loadBalancer.getRetryAfterSeconds([only], 500)).toBe(30);
    expect(loadBalancer.pick([only], { triedIds: noIds, nowMs: 30_000 })).toBe(only);
  });

  it('doubles the pause from 1 s after the second failed call up to 5 min', () => {
    const loadBalancer = new LoadBalancer();
    const only = upstream('a');
    let nowMs = 0;
    const backOffs: number[] = [];
    for (let call = 0; call < 12; call += 1) {
      loadBalancer.recordFailure(only, at(nowMs));
      backOffs.push(
        loadBalancer.pick([only], { triedIds: noIds, nowMs }) === undefined
          ? loadBalancer.getRetryAfterSeconds([only], nowMs)
          : 0,
      );
      nowMs += 1_000_000;
    }
    expect(backOffs).toEqual([0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  });

  it("keeps the last upstream open for other callers if only one caller's calls fail", () => {
    const loadBalancer = new LoadBalancer();
    const [one, spare] = [upstream('a'), upstream('b')];
    const pickId = (nowMs: number) => getId(loadBalancer.pick([one, spare], { triedIds: noIds, nowMs }));
    for (let call = 0; call < 4; call += 1) loadBalancer.recordFailure(one, { nowMs: 1_000 * call, caller: 'ada' });
    expect([pickId(3_500), pickId(3_500), loadBalancer.getState(one, 3_500).isPaused]).toEqual(['b', 'b', true]);
    expect(loadBalancer.pick([one], { triedIds: noIds, nowMs: 3_500 })).toBe(one);
    loadBalancer.recordRateLimit(spare, limited(10), 3_500);
    expect(pickId(3_500)).toBe('a');
    loadBalancer.recordFailure(one, { nowMs: 3_500, caller: 'bob' });
    expect(pickId(3_500)).toBeUndefined();
  });

  it('allows one probe per second if requests of two callers caused the failures, but no probe if the upstream was unreachable', () => {
    const loadBalancer = new LoadBalancer();
    const [one, spare, call, other] = [upstream('a'), upstream('b', { tier: 1 }), {}, {}];
    const pickId = (nowMs: number, asking = other) =>
      getId(loadBalancer.pick([spare, one], { triedIds: noIds, nowMs, call: asking }));
    for (const each of [one, spare])
      for (const nowMs of [0, 1_000]) loadBalancer.recordFailure(each, { nowMs, caller: `${nowMs}` });
    loadBalancer.recordFailure(spare, { nowMs: 1_000, caller: undefined });
    for (const nowMs of [2_000, 4_000]) loadBalancer.recordFailure(one, { nowMs, caller: 'eve' });
    loadBalancer.recordRateLimit(spare, limited(60), 4_000);
    expect([pickId(4_999, call), pickId(5_000, call), pickId(5_000), pickId(7_000)]).toEqual([
      undefined,
      'a',
      undefined,
      undefined,
    ]);
    loadBalancer.releaseProbe(one, other);
    expect(pickId(7_000)).toBeUndefined();
    loadBalancer.releaseProbe(one, call);
    expect([pickId(7_000), pickId(7_000)]).toEqual(['a', undefined]);
    loadBalancer.recordSuccess(one, 7_000);
    expect([pickId(7_000), pickId(7_000)]).toEqual(['a', 'a']);
    const unreached = upstream('c');
    for (const caller of ['ada', undefined, 'bob']) loadBalancer.recordFailure(unreached, { nowMs: 0, caller });
    expect(loadBalancer.pick([unreached], { triedIds: noIds, nowMs: 10, call })).toBeUndefined();
  });

  it('keeps a rate limit if an earlier call succeeds after it', () => {
    const loadBalancer = new LoadBalancer();
    const only = upstream('a');
    loadBalancer.recordRateLimit(only, limited(40), 1_000);
    loadBalancer.recordSuccess(only, 999);
    expect(loadBalancer.getState(only, 1_001)).toMatchObject({ isPaused: true, reason: 'rate_limited' });
    loadBalancer.recordSuccess(only, 1_001);
    expect(loadBalancer.getState(only, 1_002).isPaused).toBe(false);
  });

  it('ends a probe that succeeds after a rate limit, so that another call can be the next probe', () => {
    const loadBalancer = new LoadBalancer();
    const only = upstream('a');
    const probe = (nowMs: number) => loadBalancer.pick([only], { triedIds: noIds, nowMs, call: {} });
    for (const caller of ['ada', 'bob']) loadBalancer.recordFailure(only, { nowMs: 0, caller });
    loadBalancer.recordFailure(only, { nowMs: 1_000, caller: 'ada' });
    expect(probe(2_000)).toBe(only);
    loadBalancer.recordRateLimit(only, limited(1), 2_100);
    loadBalancer.recordSuccess(only, 2_000);
    loadBalancer.recordFailure(only, { nowMs: 3_200, caller: 'ada' });
    expect(probe(4_200)).toBe(only);
  });

  it('pauses an upstream for at most 60 s', () => {
    const loadBalancer = new LoadBalancer();
    const only = upstream('a');
    loadBalancer.recordRateLimit(only, limited(43_054), 0);
    expect(loadBalancer.pick([only], { triedIds: noIds, nowMs: 59_999 })).toBeUndefined();
    expect(loadBalancer.pick([only], { triedIds: noIds, nowMs: 60_000 })).toBe(only);
  });

  it('resets the state if the configuration of an upstream changes', () => {
    const loadBalancer = new LoadBalancer();
    loadBalancer.recordRateLimit(upstream('a'), limited(), 0);
    const changed = upstream('a', { revision: 'a, changed' });
    expect(loadBalancer.pick([changed], { triedIds: noIds, nowMs: 1 })).toBe(changed);
  });

  it('counts calls that fail together as one failure', () => {
    const loadBalancer = new LoadBalancer();
    const only = upstream('a');
    for (let call = 0; call < 32; call += 1) loadBalancer.recordFailure(only, at(call));
    expect(loadBalancer.getRetryAfterSeconds([only], 32)).toBe(1);
    expect(loadBalancer.pick([only], { triedIds: noIds, nowMs: 1_002 })).toBe(only);
  });

  it('resets failures after a success', () => {
    const loadBalancer = new LoadBalancer();
    const only = upstream('a');
    loadBalancer.recordFailure(only, at(0));
    loadBalancer.recordSuccess(only, 0);
    loadBalancer.recordFailure(only, at(0));
    expect(loadBalancer.pick([only], { triedIds: noIds, nowMs: 0 })).toBe(only);
    expect(loadBalancer.getState(only, 0)).toMatchObject({ id: 'a', isPaused: false, reason: undefined });
  });

  it('deletes the state of an upstream one hour after its pause when another one is added', () => {
    const loadBalancer = new LoadBalancer();
    const [gone, resting, coming] = [upstream('gone'), upstream('resting'), upstream('coming')];
    const hourMs = 3_600_000;
    loadBalancer.recordFailure(gone, at(0));
    loadBalancer.recordFailure(resting, at(0));
    loadBalancer.recordRateLimit(resting, limited(60), 0);
    expect(loadBalancer.getDetailedState(resting, 0)).toMatchObject({
      failuresInARow: 1,
      reason: 'rate_limited',
      pausedForMs: 60_000,
    });
    loadBalancer.recordFailure(coming, at(hourMs));
    expect([gone, resting].map((each) => loadBalancer.getDetailedState(each, hourMs).failuresInARow)).toEqual([0, 1]);
    loadBalancer.recordFailure(upstream('later'), at(2 * hourMs));
    expect(loadBalancer.getDetailedState(resting, 2 * hourMs).failuresInARow).toBe(0);
  });

  it('retains the state of an upstream that is selected or that failed within the last hour', () => {
    const loadBalancer = new LoadBalancer();
    const [a, b] = [upstream('a'), upstream('b')];
    for (const nowMs of [0, 3_000_000]) loadBalancer.recordFailure(a, at(nowMs));
    loadBalancer.recordFailure(b, at(0));
    loadBalancer.pick([a, b], { triedIds: noIds, nowMs: 3_500_000 });
    loadBalancer.recordFailure(upstream('c'), at(3_600_000));
    expect([a, b].map((each) => loadBalancer.getDetailedState(each, 3_600_000).failuresInARow)).toEqual([2, 1]);
  });
});

describe('affinity', () => {
  const loadBalancer = new LoadBalancer();
  const [a, b, heavy] = [upstream('a'), upstream('b'), upstream('heavy', { weight: 3 })];
  const affinities = Array.from({ length: 500 }, (_, n) => `conversation ${n}`);
  const homes = (upstreams: readonly Upstream[], tried = noIds): (string | undefined)[] =>
    affinities.map((affinity) => getId(loadBalancer.pick(upstreams, { triedIds: tried, nowMs: 0, affinity })));

  it('always selects the same upstream, regardless of order and of calls in between', () => {
    const before = homes([a, b, heavy]);
    loadBalancer.pick([a, b, heavy], { triedIds: noIds, nowMs: 0 });
    expect(homes([heavy, b, a])).toEqual(before);
  });

  it('distributes calls over the upstreams by weight', () => {
    const all = homes([a, b, heavy]);
    expect(all.filter((id) => id === 'heavy').length / all.length).toBeCloseTo(0.6, 1);
    expect(all.filter((id) => id === 'a').length / all.length).toBeCloseTo(0.2, 1);
  });

  it('selects another upstream only while the original one is missing', () => {
    const before = homes([a, b, heavy]);
    const without = homes([a, heavy]);
    expect(without.filter((id, index) => id !== before[index]).length).toBe(before.filter((id) => id === 'b').length);
    expect(homes([a, b, heavy])).toEqual(before);
  });

  it('does not override tiers, pauses, and attempts of the same call', () => {
    expect(new Set(homes([a, upstream('spare', { tier: 1 })]))).toEqual(new Set(['a']));
    expect(homes([a, b], new Set(['b']))).not.toContain('b');
    loadBalancer.recordRateLimit(b, limited(10), 0);
    expect(homes([a, b])).not.toContain('b');
  });

  it('selects a higher tier if the lower one is full, and reports if all are full', () => {
    const loadBalancer = new LoadBalancer();
    const upstreams = [upstream('a', { maxParallel: 2 }), upstream('b', { tier: 1, maxParallel: 1 })];
    const occupied = Array.from({ length: 4 }, () => {
      const picked = loadBalancer.pick(upstreams, { triedIds: noIds, nowMs: 0 });
      if (typeof picked === 'object') loadBalancer.occupy(picked);
      return getId(picked);
    });
    expect(occupied).toEqual(['a', 'a', 'b', 'full']);
    loadBalancer.vacate(upstream('a'));
    expect(getId(loadBalancer.pick(upstreams, { triedIds: noIds, nowMs: 0 }))).toBe('a');
  });

  it('reports a paused upstream as unavailable, even if it is full', () => {
    const loadBalancer = new LoadBalancer();
    const only = upstream('a', { maxParallel: 1 });
    loadBalancer.occupy(only);
    loadBalancer.recordRateLimit(only, limited(10), 0);
    expect(loadBalancer.pick([only], { triedIds: noIds, nowMs: 1_000 })).toBeUndefined();
  });

  it('selects an upstream with a small remaining quota less often, until the quota has refilled', () => {
    const loadBalancer = new LoadBalancer();
    const upstreams = [upstream('a'), upstream('b')];
    const pickAll = (nowMs: number) =>
      Array.from({ length: 12 }, () => getId(loadBalancer.pick(upstreams, { triedIds: noIds, nowMs }))).filter((id) => id === 'a')
        .length;
    expect(pickAll(0)).toBe(6);
    loadBalancer.recordQuota(upstreams[0] as Upstream, { remainingShare: 0.1, resetMs: 60_000, limit: 100 }, 0);
    expect(pickAll(0)).toBe(2);
    expect(pickAll(40_000)).toBe(6);
  });

  it('pauses an upstream without remaining quota until the next request of the quota is available', () => {
    const loadBalancer = new LoadBalancer();
    const pauses: unknown[] = [];
    loadBalancer.onPause((pause) => pauses.push(pause));
    const only = upstream('a');
    loadBalancer.recordQuota(only, { remainingShare: 0.9, resetMs: 60_000, limit: 10 }, 0);
    loadBalancer.recordQuota(only, { remainingShare: 0, resetMs: 60_000, limit: 10 }, 1_000);
    expect([6_999, 7_000].map((nowMs) => getId(loadBalancer.pick([only], { triedIds: noIds, nowMs })))).toEqual([undefined, 'a']);
    expect(loadBalancer.areAllRateLimited([only], 6_000)).toBe(true);
    expect(pauses).toEqual([{ revision: 'a', offForMs: 6_000 }]);
  });

  it('applies the pause of another node for at most a minute', () => {
    const loadBalancer = new LoadBalancer();
    const only = upstream('a');
    loadBalancer.applyPause({ revision: 'a', offForMs: 1e12 }, 0);
    expect(loadBalancer.getRetryAfterSeconds([only], 0)).toBe(60);
  });
});

describe('LoadBalancer of a worker', () => {
  it('has its part of maxParallel, and at least one call', () => {
    const bounds = (maxParallel: number) =>
      [1, 2, 3].map((slot) => {
        const loadBalancer = new LoadBalancer({ slot, count: 3 });
        return loadBalancer.getDetailedState(upstream('a', { maxParallel }), 0).maxParallel;
      });
    expect([bounds(8), bounds(3), bounds(1)]).toEqual([
      [3, 3, 2],
      [1, 1, 1],
      [1, 1, 1],
    ]);
  });

  it('estimates the wait of a queued call with its part of maxParallel', () => {
    const { queue } = new LoadBalancer({ slot: 1, count: 2 });
    const bounds = { maxWaiting: 9, maxWaitMs: 4_000 };
    const deployment = { id: 'm', queue: bounds, upstreams: [upstream('a', { maxParallel: 4 })] } as unknown as Deployment;
    const call = { caller: 'ada', startedAtMs: 0, isBatch: false, isSelective: false, start: () => false, fail: () => undefined };
    queue.recordDuration('m', 10_000);
    expect(() => queue.add(deployment, call)).toThrow('Try again in 5 s.');
  });

  it.each([
    [5, [3, 2]],
    [1, [1, 1]],
    [0, [0, 0]],
  ])('holds its part of a maxWaiting of %i', (maxWaiting, parts) => {
    const bounds = { maxWaiting, maxWaitMs: 4_000 };
    const deployment = { id: 'm', queue: bounds, upstreams: [upstream('a', { maxParallel: 4 })] } as unknown as Deployment;
    const call = { caller: 'ada', startedAtMs: 0, isBatch: false, isSelective: false, start: () => false, fail: () => undefined };
    for (const [index, part] of parts.entries()) {
      const { queue } = new LoadBalancer({ slot: index + 1, count: 2 });
      for (let calls = 0; calls < part; calls += 1) queue.add(deployment, { ...call });
      expect(() => queue.add(deployment, { ...call })).toThrow('Try again in 1 s.');
    }
  });
});
