import { describe, expect, it } from 'vitest';
import { toParameters } from './to-parameters.ts';

const text = { type: 'string' };

describe('parameters of a tool', () => {
  it('stay as the server wrote them, but for the name of the dialect', () => {
    const schema = { type: 'object', properties: { a: text, b: { $ref: '#/$defs/b' } }, required: ['a'], $defs: { b: text } };
    expect(toParameters({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema })).toEqual(schema);
  });

  it.each([
    ['nothing', undefined],
    ['no object', 'string'],
    ['a list', []],
    ['an object of nothing', {}],
    ['properties that are none', { properties: [] }],
  ])('are an object of anything where the server wrote %s', (_what, written) => {
    expect(toParameters(written)).toEqual({ type: 'object', properties: {} });
  });

  it('have no choice at the top, which models do not take: what is in it can all be given', () => {
    const written = {
      anyOf: [{ properties: { a: text }, required: ['a'] }, { properties: { b: text } }],
      properties: { c: text },
    };
    expect(toParameters(written)).toEqual({ type: 'object', properties: { a: text, b: text, c: text } });
  });

  it('must have what all parts of a whole must have', () => {
    const written = { allOf: [{ properties: { a: text }, required: ['a'] }], properties: { b: text }, required: ['b', 'a'] };
    expect(toParameters(written)).toEqual({ type: 'object', properties: { a: text, b: text }, required: ['b', 'a'] });
  });

  it('are an object of anything where they are too large, too deep or would change what a copy is', () => {
    const free = { type: 'object', properties: {} };
    const deep = Array.from({ length: 10_000 }).reduce<object>((inner) => ({ properties: { a: inner } }), {});
    expect(toParameters({ description: 'x'.repeat(40_000) })).toEqual(free);
    expect(toParameters(deep)).toEqual(free);
    expect(toParameters(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'))).toEqual(free);
  });
});
