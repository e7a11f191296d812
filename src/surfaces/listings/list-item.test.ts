import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toDecimal } from './list-item.ts';

it.each([
  [0, '0'],
  [0.1, '0.1'],
  [12, '12'],
  [5e-7, '0.0000005'],
  [1.25e-6, '0.00000125'],
  [1.5e-7, '0.00000015'],
  [5e-324, `0.${'0'.repeat(323)}5`],
  [1.5e21, '1500000000000000000000'],
  [1e21, '1000000000000000000000'],
])('formats %d as %s', (value, text) => {
  expect(toDecimal(value)).toBe(text);
});

it('returns digits that parse to the same number', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(toDecimal(value)).toMatch(/^\d+(\.\d+)?$/);
      expect(Number(toDecimal(value))).toBe(value);
    }),
  );
});
