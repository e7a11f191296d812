import { describe, expect, it } from 'vitest';
import { Batches } from './batches.ts';

describe('Batches', () => {
  const writeUnless = (isInvalid: (item: number) => boolean, written: number[][]) => async (items: readonly number[]) => {
    written.push([...items]);
    if (items.some(isInvalid)) throw new Error(`invalid: ${items.filter(isInvalid)}`);
    return items.map((item) => item * 10);
  };

  it('writes concurrent items in one batch', async () => {
    const written: number[][] = [];
    const batches = new Batches(writeUnless(() => false, written));
    expect(await Promise.all([1, 2, 3].map((item) => batches.add(item)))).toEqual([10, 20, 30]);
    expect(written).toEqual([[1, 2, 3]]);
  });

  it('rejects only the invalid item of a batch', async () => {
    const batches = new Batches(writeUnless((item) => item === 2, []));
    const outcomes = await Promise.allSettled([1, 2, 3].map((item) => batches.add(item)));
    expect(outcomes).toEqual([
      { status: 'fulfilled', value: 10 },
      { status: 'rejected', reason: new Error('invalid: 2') },
      { status: 'fulfilled', value: 30 },
    ]);
  });

  it('does not try every item while no write succeeds', async () => {
    const written: number[][] = [];
    const batches = new Batches(writeUnless(() => true, written));
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, (_, item) => batches.add(item)));
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
    expect(written.length).toBe(3);
    await expect(batches.add(7)).rejects.toThrow('invalid: 7');
  });
});
