import { describe, expect, it } from 'vitest';
import { requireShape } from './request-error.ts';

const countValues = (value: unknown): number =>
  typeof value !== 'object' || value === null
    ? 1
    : Object.values(value).reduce((sum: number, member) => sum + countValues(member), 1);

describe('requireShape', () => {
  it('searches for errors in a bounded number of values', () => {
    let searched = 0;
    const shape = {
      Check: (_value: unknown): _value is never => false,
      Errors(value: unknown) {
        searched = countValues(value);
        return [];
      },
    };
    const turns = Array.from({ length: 6_000 }, () => ({ id: 'q', text: 'x', parts: [1, 2, 3] }));
    expect(() => requireShape(shape, { turns })).toThrow('A list has too many items');
    expect(searched).toBeGreaterThan(10_000);
    expect(searched).toBeLessThan(13_000);
  });
});
