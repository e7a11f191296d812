import { describe, expect, it } from 'vitest';
import { StoreError } from '#domain/store-error.ts';
import { retryUntilStored } from './unconfirmed-writes.ts';

describe('retryUntilStored', () => {
  it('repeats a write until the store confirms it, however long the outage is', async () => {
    const pauses: number[] = [];
    const sum = () => pauses.reduce((total, ms) => total + ms, 0);
    const clock = { sleep: async (ms: number) => void pauses.push(ms) };
    const write = async (): Promise<string> => {
      if (sum() < 3_600_000) throw new StoreError('unavailable');
      return 'stored';
    };
    expect(await retryUntilStored(clock, write)).toBe('stored');
    expect([pauses[0], Math.max(...pauses)]).toEqual([2_000, 30_000]);
  });
});
