import { describe, expect, it } from 'vitest';
import { toParameters } from './to-parameters.ts';

const text = { type: 'string' };

describe('toParameters', () => {
  it("keeps the server's schema, but drops $schema", () => {
    const schema = { type: 'object', properties: { a: text, b: { $ref: '#/$defs/b' } }, required: ['a'], $defs: { b: text } };
    expect(toParameters({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema })).toEqual(schema);
  });

  it.each([
    ['a missing schema', undefined],
    ['a string', 'string'],
    ['a list', []],
    ['an empty object', {}],
    ['properties that are not an object', { properties: [] }],
  ])('returns an empty object schema for %s', (_what, schema) => {
    expect(toParameters(schema)).toEqual({ type: 'object', properties: {} });
  });

  it('merges alternatives at the top level into optional properties, because models do not accept them', () => {
    const schema = {
      anyOf: [{ properties: { a: text }, required: ['a'] }, { properties: { b: text } }],
      properties: { c: text },
    };
    expect(toParameters(schema)).toEqual({ type: 'object', properties: { a: text, b: text, c: text } });
  });

  it('requires the required properties of all parts of an allOf', () => {
    const schema = { allOf: [{ properties: { a: text }, required: ['a'] }], properties: { b: text }, required: ['b', 'a'] };
    expect(toParameters(schema)).toEqual({ type: 'object', properties: { a: text, b: text }, required: ['b', 'a'] });
  });

  it('returns an empty object schema if the schema is too large, too deep, or contains forbidden keys', () => {
    const emptySchema = { type: 'object', properties: {} };
    const deep = Array.from({ length: 10_000 }).reduce<object>((inner) => ({ properties: { a: inner } }), {});
    expect(toParameters({ description: 'x'.repeat(40_000) })).toEqual(emptySchema);
    expect(toParameters(deep)).toEqual(emptySchema);
    expect(toParameters(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'))).toEqual(emptySchema);
  });
});
