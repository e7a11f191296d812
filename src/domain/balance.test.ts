import { describe, expect, it } from 'vitest';
import { Balance } from './balance.ts';
import { type Upstream, UpstreamFault } from './upstream.ts';

const timeouts = { connectMs: 1, firstByteMs: 1, idleMs: 1 };

function upstream(id: string, facts: Partial<Upstream> = {}): Upstream {
  const nothing = { endpoint: undefined, apiVersion: undefined, region: undefined, key: undefined };
  return { ...nothing, id, protocol: 'openai', model: id, headers: {}, weight: 1, tier: 0, timeouts, ...facts };
}

const none: ReadonlySet<string> = new Set();
const limited = (retryAfterSeconds?: number) =>
  new UpstreamFault('refused', 'slow down', { status: 429, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) });

describe('Balance', () => {
  it('spreads calls by weight, smoothly', () => {
    const balance = new Balance();
    const upstreams = [upstream('a', { weight: 5 }), upstream('b'), upstream('c')];
    const picked = Array.from({ length: 7 }, () => balance.pick(upstreams, { tried: none, nowMs: 0 })?.id).join('');
    expect(picked).toBe('aabacaa');
  });

  it('gives an upstream of weight 0 nothing', () => {
    const balance = new Balance();
    expect(balance.pick([upstream('a', { weight: 0 })], { tried: none, nowMs: 0 })).toBeUndefined();
  });

  it('takes a higher tier only when the lower ones are off', () => {
    const balance = new Balance();
    const [low, high] = [upstream('low', { tier: 1 }), upstream('high', { tier: 2 })];
    expect(balance.pick([high, low], { tried: none, nowMs: 0 })?.id).toBe('low');
    balance.rateLimited(low, limited(10), 0);
    expect(balance.pick([high, low], { tried: none, nowMs: 9_999 })?.id).toBe('high');
    expect(balance.pick([high, low], { tried: none, nowMs: 10_000 })?.id).toBe('low');
  });

  it('tries what a call has not tried before it tries again', () => {
    const balance = new Balance();
    const upstreams = [upstream('a'), upstream('b', { tier: 1 })];
    expect(balance.pick(upstreams, { tried: new Set(['a']), nowMs: 0 })?.id).toBe('b');
    expect(balance.pick(upstreams, { tried: new Set(['a', 'b']), nowMs: 0 })?.id).toBe('a');
  });

  it('leaves an upstream alone for 30 s after a 429 that says no time', () => {
    const balance = new Balance();
    const only = upstream('a');
    balance.rateLimited(only, limited(), 0);
    expect(balance.pick([only], { tried: none, nowMs: 29_999 })).toBeUndefined();
    expect(balance.areRateLimited([only], 29_999)).toBe(true);
    expect(balance.retryAfterSeconds([only], 500)).toBe(30);
    expect(balance.pick([only], { tried: none, nowMs: 30_000 })).toBe(only);
  });

  it('backs off from the second failed call, from 1 s doubling to 5 min', () => {
    const balance = new Balance();
    const only = upstream('a');
    let nowMs = 0;
    const backOffs: number[] = [];
    for (let call = 0; call < 12; call += 1) {
      balance.failed(only, nowMs);
      backOffs.push(
        balance.pick([only], { tried: none, nowMs: nowMs }) === undefined ? balance.retryAfterSeconds([only], nowMs) : 0,
      );
      nowMs += 1_000_000;
    }
    expect(backOffs).toEqual([0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  });

  it('counts one failure of many calls that broke off together', () => {
    const balance = new Balance();
    const only = upstream('a');
    for (let call = 0; call < 32; call += 1) balance.failed(only, call);
    expect(balance.retryAfterSeconds([only], 32)).toBe(1);
    expect(balance.pick([only], { tried: none, nowMs: 1_002 })).toBe(only);
  });

  it('forgets failures after a success', () => {
    const balance = new Balance();
    const only = upstream('a');
    balance.failed(only, 0);
    balance.succeeded(only);
    balance.failed(only, 0);
    expect(balance.pick([only], { tried: none, nowMs: 0 })).toBe(only);
    expect(balance.state(only, 0)).toEqual({ id: 'a', off: false, reason: undefined });
  });

  it('forgets an upstream an hour after its back-off, once another comes in', () => {
    const balance = new Balance();
    const [gone, resting, coming] = [upstream('gone'), upstream('resting'), upstream('coming')];
    const hourMs = 3_600_000;
    balance.failed(gone, 0);
    balance.failed(resting, 0);
    balance.rateLimited(resting, limited(7200), 0);
    balance.failed(coming, hourMs);
    expect(balance.backOff(gone, hourMs).failuresInARow).toBe(0);
    expect(balance.backOff(resting, hourMs)).toMatchObject({ failuresInARow: 1, reason: 'rate_limited', offForMs: hourMs });
    balance.failed(upstream('later'), 3 * hourMs - 1);
    expect(balance.backOff(resting, 3 * hourMs).failuresInARow).toBe(1);
    balance.failed(upstream('last'), 4 * hourMs);
    expect(balance.backOff(resting, 4 * hourMs).failuresInARow).toBe(0);
  });

  it('remembers an upstream that is chosen, and one that failed within the hour', () => {
    const balance = new Balance();
    const [a, b] = [upstream('a'), upstream('b')];
    for (const nowMs of [0, 3_000_000]) balance.failed(a, nowMs);
    balance.failed(b, 0);
    balance.pick([a, b], { tried: none, nowMs: 3_500_000 });
    balance.failed(upstream('c'), 3_600_000);
    expect([a, b].map((each) => balance.backOff(each, 3_600_000).failuresInARow)).toEqual([2, 1]);
  });
});

describe('an affinity', () => {
  const balance = new Balance();
  const [a, b, heavy] = [upstream('a'), upstream('b'), upstream('heavy', { weight: 3 })];
  const affinities = Array.from({ length: 500 }, (_, n) => `conversation ${n}`);
  const homes = (upstreams: readonly Upstream[], tried = none): (string | undefined)[] =>
    affinities.map((affinity) => balance.pick(upstreams, { tried, nowMs: 0, affinity })?.id);

  it('has one home, whatever the order of the upstreams and the calls between', () => {
    const before = homes([a, b, heavy]);
    balance.pick([a, b, heavy], { tried: none, nowMs: 0 });
    expect(homes([heavy, b, a])).toEqual(before);
  });

  it('is spread over the upstreams by weight', () => {
    const all = homes([a, b, heavy]);
    expect(all.filter((id) => id === 'heavy').length / all.length).toBeCloseTo(0.6, 1);
    expect(all.filter((id) => id === 'a').length / all.length).toBeCloseTo(0.2, 1);
  });

  it('moves only where its home is gone, and moves back', () => {
    const before = homes([a, b, heavy]);
    const without = homes([a, heavy]);
    expect(without.filter((id, at) => id !== before[at]).length).toBe(before.filter((id) => id === 'b').length);
    expect(homes([a, b, heavy])).toEqual(before);
  });

  it('does not lead past a lower tier, to an upstream that is off, or to one that this call has tried', () => {
    expect(new Set(homes([a, upstream('spare', { tier: 1 })]))).toEqual(new Set(['a']));
    expect(homes([a, b], new Set(['b']))).not.toContain('b');
    balance.rateLimited(b, limited(10), 0);
    expect(homes([a, b])).not.toContain('b');
  });
});
