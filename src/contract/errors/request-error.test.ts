import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
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

  it.each([
    [{ limits: { day: 1 } }, 'limits.day is not a known field.'],
    [{ limits: { minute: 0 } }, 'limits.minute must be greater than 0.'],
    [{ limits: { minute: true } }, 'limits.minute must be a number.'],
    [{ addresses: ['::1', '::1'] }, 'addresses must not have the same item twice.'],
    [{ even: 3 }, 'even must be in a documented form (see /docs).'],
  ])('describes the error of %j', (value, message) => {
    const limits = Type.Object({ minute: Type.Optional(Type.Number({ exclusiveMinimum: 0 })) }, { additionalProperties: false });
    const addresses = Type.Array(Type.String(), { uniqueItems: true });
    const fields = { limits, addresses, even: Type.Integer({ multipleOf: 2 }) };
    expect(() => requireShape(Compile(Type.Partial(Type.Object(fields))), value)).toThrow(message);
  });
});
