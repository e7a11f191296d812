import { describe, expect, it } from 'vitest';
import type { Clock } from '#base/time/clock.ts';
import { type KeySet, ProviderKeys } from './provider-keys.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Returns the keys of a fake provider. Each fetch returns another set, or fails while `isAway` is set. Tests set the time. */
function openKeys() {
  const state = { nowMs: 0, fetched: 0, isAway: false, errors: [] as unknown[] };
  const sets: KeySet[] = [];
  const clock: Clock = { nowMs: () => state.nowMs, epochMs: () => state.nowMs, sleep: () => Promise.resolve() };
  const keys = new ProviderKeys({
    clock,
    fetchKeys: async () => {
      state.fetched += 1;
      if (state.isAway) throw new Error('unavailable');
      const set = (() => undefined) as unknown as KeySet;
      sets.push(set);
      return set;
    },
    reportError: (error) => state.errors.push(error),
  });
  const settled = () => new Promise(setImmediate);
  return { keys, state, sets, settled };
}

describe('ProviderKeys.current', () => {
  it('fetches the keys once for concurrent requests', async () => {
    const { keys, state, sets } = openKeys();
    const keySets = await Promise.all(Array.from({ length: 20 }, () => keys.current()));
    expect(new Set(keySets)).toEqual(new Set(sets));
    expect(state.fetched).toBe(1);
  });

  it('fetches the keys again after ten minutes and returns the old keys meanwhile', async () => {
    const { keys, state, sets, settled } = openKeys();
    await keys.current();
    state.nowMs = 10 * minuteMs - 1;
    await keys.current();
    expect(state.fetched).toBe(1);
    state.nowMs = 10 * minuteMs;
    expect(await keys.current()).toBe(sets[0]);
    await settled();
    expect(await keys.current()).toBe(sets[1]);
    expect(state.fetched).toBe(2);
  });

  it('returns the last keys for a day while the provider is down, and reports the failure once', async () => {
    const { keys, state, sets, settled } = openKeys();
    await keys.current();
    state.isAway = true;
    for (let hour = 1; hour < 24; hour += 1) {
      state.nowMs = hour * hourMs;
      expect(await keys.current()).toBe(sets[0]);
      await settled();
    }
    expect(state.errors).toHaveLength(1);
    expect(state.fetched).toBe(24);
    state.nowMs = 24 * hourMs;
    await expect(keys.current()).rejects.toMatchObject({ code: 'overloaded', status: 503 });
    state.isAway = false;
    state.nowMs += 10_000;
    expect(await keys.current()).toBe(sets[1]);
    state.isAway = true;
    state.nowMs += hourMs;
    await keys.current();
    await settled();
    expect(state.errors).toHaveLength(2);
  });

  it('retries a failed fetch after ten seconds, and returns the remaining time as Retry-After', async () => {
    const { keys, state } = openKeys();
    state.isAway = true;
    await expect(keys.current()).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 10 });
    state.nowMs = 7_500;
    await expect(keys.current()).rejects.toMatchObject({ retryAfterSeconds: 3 });
    expect(state.fetched).toBe(1);
    state.nowMs = 10_000;
    state.isAway = false;
    await keys.current();
    expect(state.fetched).toBe(2);
  });
});

describe('ProviderKeys.newerThan', () => {
  it('fetches immediately, then not for thirty seconds', async () => {
    const { keys, state, sets } = openKeys();
    const first = await keys.current();
    const second = await keys.newerThan(first);
    expect(second).toBe(sets[1]);
    state.nowMs = 29_999;
    expect(await keys.newerThan(sets[1] as KeySet)).toBeUndefined();
    expect(state.fetched).toBe(2);
    state.nowMs = 30_000;
    expect(await keys.newerThan(sets[1] as KeySet)).toBe(sets[2]);
  });

  it('returns keys that another request has just fetched', async () => {
    const { keys, state } = openKeys();
    const first = await keys.current();
    const all = await Promise.all(Array.from({ length: 10 }, () => keys.newerThan(first)));
    expect(new Set(all).size).toBe(1);
    expect(await keys.newerThan(first)).toBe(all[0]);
    expect(state.fetched).toBe(2);
  });

  it('rejects with overloaded, not with invalid_token, if the fetch fails', async () => {
    const { keys, state } = openKeys();
    const first = await keys.current();
    state.isAway = true;
    await expect(keys.newerThan(first)).rejects.toMatchObject({ code: 'overloaded' });
    await expect(keys.newerThan(first)).rejects.toMatchObject({ code: 'overloaded' });
    expect(state.fetched).toBe(2);
    expect(await keys.current()).toBe(first);
    state.isAway = false;
    state.nowMs = 10_000;
    expect(await keys.newerThan(first)).not.toBe(first);
  });
});
