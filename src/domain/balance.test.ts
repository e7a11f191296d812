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
    const picked = Array.from({ length: 7 }, () => balance.pick(upstreams, none, 0)?.id).join('');
    expect(picked).toBe('aabacaa');
  });

  it('gives an upstream of weight 0 nothing', () => {
    const balance = new Balance();
    expect(balance.pick([upstream('a', { weight: 0 })], none, 0)).toBeUndefined();
  });

  it('takes a higher tier only when the lower ones are off', () => {
    const balance = new Balance();
    const [low, high] = [upstream('low', { tier: 1 }), upstream('high', { tier: 2 })];
    expect(balance.pick([high, low], none, 0)?.id).toBe('low');
    balance.rateLimited(low, limited(10), 0);
    expect(balance.pick([high, low], none, 9_999)?.id).toBe('high');
    expect(balance.pick([high, low], none, 10_000)?.id).toBe('low');
  });

  it('tries what a call has not tried before it tries again', () => {
    const balance = new Balance();
    const upstreams = [upstream('a'), upstream('b', { tier: 1 })];
    expect(balance.pick(upstreams, new Set(['a']), 0)?.id).toBe('b');
    expect(balance.pick(upstreams, new Set(['a', 'b']), 0)?.id).toBe('a');
  });

  it('leaves an upstream alone for 30 s after a 429 that says no time', () => {
    const balance = new Balance();
    const only = upstream('a');
    balance.rateLimited(only, limited(), 0);
    expect(balance.pick([only], none, 29_999)).toBeUndefined();
    expect(balance.areRateLimited([only], 29_999)).toBe(true);
    expect(balance.retryAfterSeconds([only], 500)).toBe(30);
    expect(balance.pick([only], none, 30_000)).toBe(only);
  });

  it('backs off from the second failed call, from 1 s doubling to 5 min', () => {
    const balance = new Balance();
    const only = upstream('a');
    let nowMs = 0;
    const backOffs: number[] = [];
    for (let call = 0; call < 12; call += 1) {
      balance.failed(only, nowMs);
      backOffs.push(balance.pick([only], none, nowMs) === undefined ? balance.retryAfterSeconds([only], nowMs) : 0);
      nowMs += 1_000_000;
    }
    expect(backOffs).toEqual([0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  });

  it('counts one failure of many calls that broke off together', () => {
    const balance = new Balance();
    const only = upstream('a');
    for (let call = 0; call < 32; call += 1) balance.failed(only, call);
    expect(balance.retryAfterSeconds([only], 32)).toBe(1);
    expect(balance.pick([only], none, 1_002)).toBe(only);
  });

  it('forgets failures after a success', () => {
    const balance = new Balance();
    const only = upstream('a');
    balance.failed(only, 0);
    balance.succeeded(only);
    balance.failed(only, 0);
    expect(balance.pick([only], none, 0)).toBe(only);
    expect(balance.state(only, 0)).toEqual({ id: 'a', off: false, reason: undefined });
  });

  it('forgets upstreams that are configured no more', () => {
    const balance = new Balance();
    const only = upstream('a');
    balance.rateLimited(only, limited(), 0);
    balance.keepOnly(new Set());
    expect(balance.pick([only], none, 0)).toBe(only);
  });
});
