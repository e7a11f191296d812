import { describe, expect, it } from 'vitest';
import { english } from '../words/english.ts';
import { type Field, toFields } from './field.ts';
import { toDraft, toValue } from './form-value.ts';

const schema = {
  type: 'object',
  required: ['stars', 'colour', 'place'],
  properties: {
    stars: { type: 'integer', minimum: 1, maximum: 5, description: 'How good' },
    colour: { enum: ['red', 7, null] },
    deliveryDate: { type: 'string', format: 'date' },
    remark: { type: 'string', maxLength: 200 },
    gift: { type: 'boolean', default: true },
    extras: { type: 'array', items: { enum: ['card', 'ribbon'] } },
    kind: { oneOf: [{ const: 'a', title: 'Kind A' }, { const: 'b' }] },
    place: { type: 'object', required: ['city'], properties: { city: { type: 'string', minLength: 2 } } },
    anything: { type: 'array', items: { type: 'object' } },
  },
};
const fields = toFields(schema) ?? [];
const shown = (field: Field) => [field.name, field.kind, field.label];

describe('a schema', () => {
  it('becomes the fields it asks for', () => {
    expect(fields.map(shown)).toEqual([
      ['stars', 'number', 'Stars'],
      ['colour', 'choice', 'Colour'],
      ['deliveryDate', 'text', 'Delivery date'],
      ['remark', 'text', 'Remark'],
      ['gift', 'switch', 'Gift'],
      ['extras', 'choices', 'Extras'],
      ['kind', 'choice', 'Kind'],
      ['place', 'group', 'Place'],
      ['anything', 'json', 'Anything'],
    ]);
    expect(fields[0]).toMatchObject({ isRequired: true, hint: 'How good', isWhole: true, min: 1, max: 5 });
    expect(fields[2]).toMatchObject({ inputType: 'date', isLong: false });
    expect(fields[3]).toMatchObject({ isLong: true });
    expect(fields[6]).toMatchObject({
      options: [
        { label: 'Kind A', value: 'a' },
        { label: 'b', value: 'b' },
      ],
    });
  });

  it.each([
    [undefined],
    ['text'],
    [{}],
    [{ type: 'array' }],
    [{ $ref: '#' }],
    [{ type: 'object', properties: {} }],
    [{ properties: [] }],
    [{ properties: { a: {} }, oneOf: [] }],
    [{ properties: Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`f${at}`, {}])) }],
  ])('that is no plain form is none: %j', (odd) => {
    expect(toFields(odd)).toBeUndefined();
  });

  it('with odd parts is drawn as far as it goes', () => {
    const odd = {
      properties: {
        a: null,
        b: { type: ['string', 'null'] },
        c: { enum: [] },
        __proto__: 1,
        d: { type: 'object', properties: { e: {} } },
      },
      required: 'a',
    };
    expect(toFields(odd)?.map(({ kind }) => kind)).toEqual(['json', 'json', 'json', 'group']);
  });

  it('nested without end stops', () => {
    const endless: { type: string; properties: { inner?: unknown } } = { type: 'object', properties: {} };
    endless.properties.inner = endless;
    expect(JSON.stringify(toFields(endless))).toContain('"kind":"json"');
  });
});

describe('a filled form', () => {
  const fill = (entries: Record<string, unknown>) => toValue(fields, new Map(Object.entries(entries)), english);

  it('gives the value', () => {
    const { value, faults } = fill({
      '/stars': '4',
      '/colour': 7,
      '/place/city': 'Rome',
      '/extras': ['card'],
      '/anything': '[{"a": 1}]',
      '/remark': '',
    });
    expect([...faults]).toEqual([]);
    expect(value).toEqual({ stars: 4, colour: 7, gift: true, extras: ['card'], place: { city: 'Rome' }, anything: [{ a: 1 }] });
  });

  it('says what is missing and what is wrong, and where', () => {
    const { faults } = fill({ '/stars': '2.5', '/remark': 'x'.repeat(201), '/place/city': 'R', '/anything': '{' });
    expect(Object.fromEntries(faults)).toEqual({
      '/stars': english.mustBeWhole,
      '/colour': english.mustBeFilled,
      '/remark': english.shortEnough(200),
      '/place/city': english.longEnough(2),
      '/anything': english.mustBeJson,
    });
    expect(fill({ '/stars': 'many' }).faults.get('/stars')).toBe(english.mustBeNumber);
    expect(fill({ '/stars': '9' }).faults.get('/stars')).toBe(english.atMost(5));
    expect(fill({ '/stars': '0' }).faults.get('/stars')).toBe(english.atLeast(1));
    expect(fill({}).faults.get('/place/city')).toBe(english.mustBeFilled);
  });
});

describe('a form that was sent', () => {
  it('stands as it was sent, whatever its kinds of fields are', () => {
    const value = {
      ...{ stars: 4, colour: null, deliveryDate: '2026-05-01', gift: false, extras: ['card'], kind: 'b' },
      ...{ place: { city: 'Porto' }, anything: [{ a: 1 }] },
    };
    const draft = toDraft(fields, value);
    expect(draft.get('/place/city')).toBe('Porto');
    expect(draft.get('/anything')).toBe('[{"a":1}]');
    expect(toValue(fields, draft, english)).toEqual({ value, faults: new Map() });
  });

  it('of another shape leaves its fields empty', () => {
    const draft = toDraft(fields, { place: 'Porto', ['__proto__']: 1 });
    expect([...draft.values()].every((each) => each === undefined)).toBe(true);
  });
});
