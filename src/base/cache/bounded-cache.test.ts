import { describe, expect, it } from 'vitest';
import { BoundedCache, Caches } from './bounded-cache.ts';

/** Returns a cache that holds at most `count` values of 1,000 bytes with keys of one letter. */
function createCacheFor(count: number): BoundedCache<string> {
  return new BoundedCache({ maxBytes: count * 1_130, countBytes: ({ length }) => length });
}

const value = 'x'.repeat(1_000);

describe('BoundedCache', () => {
  it('never exceeds `maxBytes`', () => {
    const cache = createCacheFor(10);
    let maxBytesSeen = 0;
    for (let nth = 0; nth < 1_000; nth += 1) {
      cache.set(`key ${nth % 37}`, 'x'.repeat((nth * 311) % 3_000));
      cache.find(`key ${nth % 5}`);
      maxBytesSeen = Math.max(maxBytesSeen, cache.bytes);
    }
    expect(maxBytesSeen).toBeGreaterThan(9_000);
    expect(maxBytesSeen).toBeLessThanOrEqual(11_300);
  });

  it('evicts the oldest entries that were not read, and entries that were read after those', () => {
    const cache = createCacheFor(3);
    for (const key of ['a', 'b', 'c']) cache.set(key, value);
    cache.find('a');
    cache.set('d', value);
    expect(['a', 'b', 'c', 'd'].map((key) => cache.find(key) !== undefined)).toEqual([true, false, true, true]);
    cache.set('e', value);
    expect(cache.bytes).toBeLessThanOrEqual(3 * 1_130);
    expect(cache.find('e')).toBe(value);
  });

  it('counts a replaced value once, and a deleted value not at all', () => {
    const cache = createCacheFor(3);
    cache.set('a', value);
    const bytesOfOne = cache.bytes;
    cache.set('a', value);
    expect(cache.bytes).toBe(bytesOfOne);
    cache.delete('a');
    cache.delete('a');
    expect(cache.bytes).toBe(0);
  });

  it('rejects a value that alone exceeds `maxBytes`, and keeps the existing entries', () => {
    const cache = createCacheFor(2);
    cache.set('a', value);
    cache.set('b', 'x'.repeat(10_000));
    expect([cache.find('a'), cache.find('b')]).toEqual([value, undefined]);
  });

  it('counts the bytes of keys, so that long keys are bounded too', () => {
    const cache = new BoundedCache<boolean>({ maxBytes: 10_000, countBytes: () => 1 });
    for (let nth = 0; nth < 100; nth += 1) cache.set(`${nth}`.padStart(1_000), true);
    expect(cache.bytes).toBeLessThanOrEqual(10_000);
    expect(cache.find('99'.padStart(1_000))).toBe(true);
  });
});

describe('Caches', () => {
  it('lists the sizes by name, with the newest cache of each name', () => {
    const caches = new Caches();
    const bounds = { maxBytes: 10_000, countBytes: (text: string) => text.length };
    caches.create('first', bounds).set('a', value);
    caches.create('second', bounds);
    const before = caches.sizes();
    caches.create('first', bounds);
    expect(before).toEqual([
      { name: 'first', bytes: 1_121 },
      { name: 'second', bytes: 0 },
    ]);
    expect(caches.sizes().map(({ bytes }) => bytes)).toEqual([0, 0]);
  });
});
