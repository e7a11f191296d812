import { describe, expect, it, vi } from 'vitest';
import { acceptsNull, CheckTime, findSchemaError, slowSchema } from './schema-error.ts';

const root = { $defs: { text: { type: 'string' }, 'a/b': { type: ['string', 'null'] } } };

const list = (items: object, others: object = {}) => ({ type: 'object', properties: { a: { type: 'array', items, ...others } } });
const objects = (count: number) => Array.from({ length: count }, (_, nth) => ({ n: nth, m: 1 }));

/** A schema whose validation time doubles with each level of nesting. */
const exponential = {
  $defs: {
    a: {
      anyOf: [
        { type: 'array', items: { $ref: '#/$defs/a' } },
        { items: { $ref: '#/$defs/a' }, type: 'array' },
      ],
    },
  },
  properties: { a: { $ref: '#/$defs/a' } },
};

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);

describe('findSchemaError', () => {
  it('finds duplicates among thousands of objects, regardless of the order of their members', () => {
    const schema = list({ type: 'object' }, { uniqueItems: true });
    expect(findSchemaError({ a: objects(10_000) }, schema)).toBeUndefined();
    expect(findSchemaError({ a: [...objects(10_000), { m: 1, n: 5 }] }, schema)).toBe('value/a must NOT have duplicate items');
  });

  it('compares thousands of items with a long enum', async () => {
    const allowed = Array.from({ length: 300 }, (_, nth) => ({ color: `color ${nth}`, n: nth }));
    const items = Array.from({ length: 6_000 }, () => ({ n: 299, color: 'color 299' }));
    const schema = list({ enum: allowed });
    // The limit of 250 ms also counts the time in which other programs use the core.
    await vi.waitFor(() => {
      expect(findSchemaError({ a: items }, schema)).toBeUndefined();
      expect(findSchemaError({ a: [...items, { n: 1, color: 'no' }] }, schema)).toBe(
        'value/a/6000 must be equal to one of the allowed values',
      );
    }, 60_000);
  });

  it('returns a short error for a long key and a schema with many alternatives', async () => {
    const anyOf = Array.from({ length: 300 }, () => ({ type: 'string' }));
    // See above.
    await vi.waitFor(() => {
      const error = findSchemaError({ ['key'.repeat(10_000)]: 1 }, { additionalProperties: { anyOf } });
      expect(error).toMatch(/^value\/keykey/);
      expect(error?.length).toBeLessThan(5_000);
    }, 60_000);
  });

  it('ends a slow check and rejects further checks after the total time is used up', () => {
    const time = new CheckTime();
    expect(findSchemaError({ a: nested(30) }, exponential, { time })).toBe(slowSchema);
    // On a busy machine, the check gets only a part of the 250 ms.
    expect(time.remainingMs).toBeLessThan(new CheckTime().remainingMs);
    time.remainingMs = 0;
    expect(findSchemaError({ a: [] }, list({}), { time })).toBe(slowSchema);
  });
});

it.each([
  undefined,
  true,
  {},
  { type: 'null' },
  { type: ['integer', 'null'], minimum: 3 },
  { type: 'string', nullable: true },
  { enum: ['a', null] },
  { const: null },
  { anyOf: [{ type: 'string' }, { type: 'null' }] },
  { oneOf: [{ type: 'string' }, { type: 'null' }] },
  { $ref: '#/$defs/a~1b' },
  { not: { type: 'string' } },
])('acceptsNull returns true for %j', (schema) => {
  expect(acceptsNull(schema, root)).toBe(true);
});

it.each([
  false,
  { type: 'string' },
  { enum: ['a'] },
  { type: ['string', 'null'], enum: ['a'] },
  { const: 1 },
  { anyOf: [{ type: 'string' }, { type: 'integer' }] },
  { oneOf: [{}, { type: 'null' }] },
  { allOf: [{}, { type: 'string' }] },
  { $ref: '#/$defs/text' },
  { $ref: '#/$defs/absent' },
  { $ref: 'https://elsewhere.example/schema' },
  { not: {} },
])('acceptsNull returns false for %j', (schema) => {
  expect(acceptsNull(schema, root)).toBe(false);
});

it('acceptsNull terminates for a schema that refers to itself', () => {
  const loop = { $defs: { self: { $ref: '#/$defs/self' } } };
  expect(acceptsNull({ $ref: '#/$defs/self' }, loop)).toBe(false);
});

it('acceptsNull ends soon for a schema that refers to itself many times', () => {
  const self = { $ref: '#/$defs/self' };
  const loop = { $defs: { self: { anyOf: Array.from({ length: 200 }, () => self) } } };
  expect(acceptsNull(self, loop)).toBe(false);
});
