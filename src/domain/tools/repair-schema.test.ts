import { describe, expect, it } from 'vitest';
import { repairSchema } from './repair-schema.ts';

const text = { type: 'string' };

describe('repairSchema', () => {
  it.each([
    ['a boolean exclusiveMinimum', { minimum: 0, exclusiveMinimum: true }, { exclusiveMinimum: 0 }],
    ['a boolean exclusiveMaximum', { maximum: 9, exclusiveMaximum: true }, { exclusiveMaximum: 9 }],
    ['an inclusive bound', { minimum: 0, exclusiveMinimum: false }, { minimum: 0 }],
    ['an exclusive bound without a number', { exclusiveMinimum: true }, {}],
    ['an id', { id: 'https://host/a', ...text }, { $id: 'https://host/a', ...text }],
    ['an id that is a fragment', { id: '#a', ...text }, { $anchor: 'a', ...text }],
    ['nullable', { ...text, nullable: true }, { type: ['string', 'null'] }],
    ['nullable with an enum', { ...text, nullable: true, enum: ['a'] }, { type: ['string', 'null'], enum: ['a', null] }],
    ['nullable with alternatives', { anyOf: [text], nullable: true }, { anyOf: [text, { type: 'null' }] }],
    ['nullable with a reference', { $ref: '#/$defs/a', nullable: true }, { anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }] }],
    ['nullable that is false', { ...text, nullable: false }, text],
    ['a list of one type', { type: ['string'] }, text],
    ['a list with a type twice', { type: ['string', 'null', 'string'] }, { type: ['string', 'null'] }],
    ['a list with schemas', { type: ['string', { type: 'object' }] }, text],
    ['an empty list of types', { type: [] }, {}],
    ['a type in capitals', { type: 'STRING' }, text],
    ['the type any', { type: 'any', description: 'x' }, { description: 'x' }],
    [
      'a list of items',
      { type: 'array', items: [text], additionalItems: false },
      { type: 'array', prefixItems: [text], items: false },
    ],
    ['additionalItems without a list', { items: text, additionalItems: false }, { items: text }],
    [
      'dependencies',
      { dependencies: { a: ['b'], c: { required: ['d'] } } },
      { dependentRequired: { a: ['b'] }, dependentSchemas: { c: { required: ['d'] } } },
    ],
    [
      'a boolean required of a property',
      { properties: { a: { ...text, required: true }, b: { ...text, required: false } }, required: ['c'] },
      { properties: { a: text, b: text }, required: ['c', 'a'] },
    ],
    [
      'definitions and the references to them',
      { properties: { a: { $ref: '#/definitions/a' } }, definitions: { a: { minimum: 0, exclusiveMinimum: true } } },
      { properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { exclusiveMinimum: 0 } } },
    ],
  ])('rewrites %s', (_name, written, repaired) => {
    expect(repairSchema(written)).toEqual(repaired);
  });

  it('repairs schemas at every position that can hold a schema', () => {
    const [old, now] = [{ ...text, nullable: true }, { type: ['string', 'null'] }];
    const build = (inner: object) => ({
      properties: { a: { items: inner } },
      patternProperties: { b: inner },
      additionalProperties: inner,
      allOf: [inner],
      anyOf: [inner],
      oneOf: [{ not: inner }],
      $defs: { c: inner },
    });
    expect(repairSchema(build(old))).toEqual(build(now));
  });

  it('does not change names and values that only look like keywords', () => {
    const schema = {
      type: 'object',
      properties: { id: text, nullable: text, definitions: text, type: text, required: text, items: text },
      default: { id: 'x', nullable: true },
      enum: [{ exclusiveMinimum: true }],
      $ref: '#/properties/definitions',
    };
    expect(repairSchema(schema)).toEqual(schema);
  });

  it('terminates if a schema is nested without bound', () => {
    const deep = Array.from({ length: 100_000 }).reduce<object>((inner) => ({ items: inner }), {});
    expect(() => repairSchema({ items: deep })).not.toThrow();
  });
});
