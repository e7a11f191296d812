import { expect, it } from 'vitest';
import type { Clock } from '../time/clock.ts';
import { BoundedCache } from './bounded-cache.ts';
import { createEntryCounter, ExpiringCache, type ExpiringEntry } from './expiring-cache.ts';

const clock: Clock = { nowMs: () => 0, epochMs: () => 0, sleep: () => Promise.resolve() };

function openCache(maxBytes: number) {
  const store = new BoundedCache<ExpiringEntry<string>>({ maxBytes, countBytes: createEntryCounter((text) => text.length) });
  const createdKeys: string[] = [];
  const cache = new ExpiringCache({ clock, store, failureTtlMs: 0 });
  const get = (key: string, chars = 1_000): Promise<string> =>
    cache.get(key, async () => {
      createdKeys.push(key);
      return { value: key.padEnd(chars), ttlMs: 1_000 };
    });
  return { kept: store, createdKeys, get };
}

it('ExpiringCache counts the size of a value as soon as the value is created', async () => {
  const { kept, get } = openCache(100_000);
  const creation = get('a', 50_000);
  expect(kept.bytes).toBeLessThan(1_000);
  await creation;
  expect(kept.bytes).toBeGreaterThan(50_000);
});

it('ExpiringCache stays within `maxBytes` with large values, and creates a value once for concurrent reads', async () => {
  const { kept, createdKeys, get } = openCache(100_000);
  for (let nth = 0; nth < 50; nth += 1) await Promise.all([get(`key ${nth}`, 30_000), get(`key ${nth}`, 30_000)]);
  expect(createdKeys).toHaveLength(50);
  expect(kept.bytes).toBeLessThanOrEqual(100_000);
  await get('key 49');
  expect(createdKeys).toHaveLength(50);
  await get('key 0');
  expect(createdKeys).toHaveLength(51);
});

it('ExpiringCache creates a value again after a failure', async () => {
  const { kept } = openCache(100_000);
  const cache = new ExpiringCache({ clock, store: kept, failureTtlMs: 0 });
  await expect(cache.get('a', () => Promise.reject(new Error('unavailable')))).rejects.toThrow('unavailable');
  expect(await cache.get('a', async () => ({ value: 'there', ttlMs: 1 }))).toBe('there');
});
