import { expect, it } from 'vitest';
import { takesNull } from './takes-null.ts';

const root = { $defs: { text: { type: 'string' }, 'a/b': { type: ['string', 'null'] } } };

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
])('null follows %j', (schema) => {
  expect(takesNull(schema, root)).toBe(true);
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
])('null does not follow %j', (schema) => {
  expect(takesNull(schema, root)).toBe(false);
});

it('a schema that refers to itself comes to an end', () => {
  const loop = { $defs: { self: { $ref: '#/$defs/self' } } };
  expect(takesNull({ $ref: '#/$defs/self' }, loop)).toBe(false);
});
