import { describe, expect, it } from 'vitest';
import { formsEnglish as english } from '../locales/en/forms.ts';
import { type Field, toFields } from './field.ts';
import { toDraft, toValue } from './form-value.ts';
import { describeValue } from './schema-form.tsx';

const schema = {
  type: 'object',
  required: ['stars', 'color', 'place'],
  properties: {
    stars: { type: 'integer', minimum: 1, maximum: 5, description: 'How good' },
    color: { enum: ['red', 7, null] },
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
const repeat = (build: () => object) => Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`f${index}`, build()]));
const describeField = (field: Field) => [field.name, field.kind, field.label];

describe('toFields', () => {
  it('returns the fields of a schema', () => {
    expect(fields.map(describeField)).toEqual([
      ['stars', 'number', 'Stars'],
      ['color', 'choice', 'Color'],
      ['deliveryDate', 'text', 'Delivery date'],
      ['remark', 'text', 'Remark'],
      ['gift', 'switch', 'Gift'],
      ['extras', 'choices', 'Extras'],
      ['kind', 'choice', 'Kind'],
      ['place', 'group', 'Place'],
      ['anything', 'json', 'Anything'],
    ]);
    expect(fields[0]).toMatchObject({ isRequired: true, hint: 'How good', isInteger: true, min: 1, max: 5 });
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
    [{ properties: Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`f${index}`, {}])) }],
  ])('returns undefined for %j', (unsupported) => {
    expect(toFields(unsupported)).toBeUndefined();
  });

  it.each([
    ['alternatives that refer to each other', { a: { anyOf: Array.from({ length: 300 }, () => ({ $ref: '#/properties/a' })) } }],
    ['groups', repeat(() => ({ type: 'object', properties: repeat(() => ({ $ref: '#/properties/f0' })) }))],
    ['options', repeat(() => ({ $ref: '#/$defs/many' }))],
  ])('returns undefined for a schema with too many %s', (_, properties) => {
    const many = { enum: Array.from({ length: 90 }, (_item, index) => index) };
    expect(toFields({ properties, $defs: { many } })).toBeUndefined();
  });

  it('falls back to JSON for unsupported properties', () => {
    const unusual = {
      properties: {
        a: null,
        b: { type: ['string', 'null'] },
        c: { enum: [] },
        __proto__: 1,
        d: { type: 'object', properties: { e: {} } },
      },
      required: 'a',
    };
    expect(toFields(unusual)?.map(({ kind }) => kind)).toEqual(['json', 'text', 'json', 'group']);
    expect(toFields({ properties: { a: { type: 'string', format: 'constructor' } } })).toMatchObject([{ inputType: 'text' }]);
  });

  it('limits the depth of nested groups', () => {
    const circular: { type: string; properties: { inner?: unknown } } = { type: 'object', properties: {} };
    circular.properties.inner = circular;
    expect(JSON.stringify(toFields(circular))).toContain('"kind":"json"');
  });
});

describe('references and combinations', () => {
  const indirectSchema = {
    $defs: { Color: { enum: ['red', 'blue'], title: 'Color' }, Loop: { $ref: '#/$defs/Loop' } },
    properties: {
      shade: { $ref: '#/$defs/Color', description: 'Which one' },
      second: { anyOf: [{ $ref: '#/$defs/Color' }, { type: 'null' }], title: 'Second' },
      third: { allOf: [{ $ref: '#/$defs/Color' }], default: 'red' },
      several: { type: 'array', items: { $ref: '#/$defs/Color' } },
      mixed: { oneOf: [{ enum: ['a'] }, { const: 'b', title: 'B' }] },
      named: { enum: [1, 2], enumNames: ['One', 'Two'] },
      note: { type: ['string', 'null'] },
      loop: { $ref: '#/$defs/Loop' },
      external: { $ref: 'https://example.com/other.json' },
    },
  };
  const formFields = toFields(indirectSchema) ?? [];

  it('are resolved, and enums become choices at any position', () => {
    expect(formFields.map(({ kind }) => kind)).toEqual([
      ...['choice', 'choice', 'choice', 'choices', 'choice', 'choice', 'text', 'json', 'json'],
    ]);
    expect(formFields[0]).toMatchObject({ hint: 'Which one', label: 'Color' });
    expect(formFields[2]).toMatchObject({ initialValue: 'red' });
    expect(formFields[5]).toMatchObject({ options: [{ label: 'One' }, { label: 'Two' }] });
  });

  it('keep their titles in the description of a value', () => {
    const value = { shade: 'red', several: ['red', 'blue'], mixed: 'b', named: 2, note: 'x' };
    expect(describeValue(formFields, value, english)).toEqual([
      'Color: red',
      'Several: red, blue',
      'Mixed: B',
      'Named: Two',
      'Note: x',
    ]);
    expect(describeValue(fields, { gift: false, place: { city: 'Rome' } }, english)).toEqual(['Gift: no', 'City: Rome']);
  });
});

describe('toValue with a text field', () => {
  const getFieldError = (rules: object, text: string) => {
    const formFields = toFields({ properties: { a: { type: 'string', ...rules } } }) ?? [];
    return toValue(formFields, new Map([['/a', text]]), english).errors.get('/a');
  };

  it.each([
    [{ pattern: '^[A-Z]{2}\\d+$' }, 'DE12', 'de12', english.invalidFormat],
    [{ format: 'email' }, 'ada@example.com', 'ada@', english.mustBeEmail],
    [{ format: 'uri' }, 'https://example.com', 'example', english.mustBeAddress],
    [{ format: 'date' }, '2026-02-28', '2026-02-31x', english.mustBeDate],
    [{ format: 'date' }, '2028-02-29', '2026-02-31', english.mustBeDate],
    [{ format: 'time' }, '23:59', '24:00', english.mustBeTime],
    [{ format: 'uuid' }, '00000000-0000-4000-8000-000000000000', 'x', english.invalidFormat],
  ])('checks %j', (rules, valid, invalid, message) => {
    expect([getFieldError(rules, valid), getFieldError(rules, invalid)]).toEqual([undefined, message]);
  });

  it.each([
    ...['(', '(a+)+$', '(a|a)*$', 'a'.repeat(400), '(a)\\1', '(?<b>a)\\k<b>'],
    ...['^((a)+)+$', `${'a*'.repeat(50)}b`, `${'a?'.repeat(60)}${'a'.repeat(60)}b`, `${'(a|a)'.repeat(59)}b`],
  ])('ignores the invalid or slow pattern %s', (pattern) => {
    expect(getFieldError({ pattern }, `${'a'.repeat(60)}!`)).toBeUndefined();
  });

  it('converts a local time to a timestamp in UTC, and back', () => {
    const formFields = toFields({ properties: { at: { type: 'string', format: 'date-time' } } }) ?? [];
    const { value } = toValue(formFields, new Map([['/at', '2026-03-01T10:30']]), english);
    expect(value).toEqual({ at: new Date('2026-03-01T10:30').toISOString() });
    expect(toDraft(formFields, value).get('/at')).toBe('2026-03-01T10:30');
  });
});

describe('toValue', () => {
  const fill = (entries: Record<string, unknown>) => toValue(fields, new Map(Object.entries(entries)), english);

  it('returns the value', () => {
    const { value, errors } = fill({
      '/stars': '4',
      '/color': 7,
      '/place/city': 'Rome',
      '/extras': ['card'],
      '/anything': '[{"a": 1}]',
      '/remark': '',
    });
    expect([...errors]).toEqual([]);
    expect(value).toEqual({ stars: 4, color: 7, gift: true, extras: ['card'], place: { city: 'Rome' }, anything: [{ a: 1 }] });
  });

  it('accepts null as the value of a JSON field', () => {
    const { value, errors } = toValue(toFields({ properties: { a: {} } }) ?? [], new Map([['/a', 'null']]), english);
    expect([value, errors.size]).toEqual([{ a: null }, 0]);
  });

  it('reports missing and invalid fields', () => {
    const { errors } = fill({ '/stars': '2.5', '/remark': 'x'.repeat(201), '/place/city': 'R', '/anything': '{' });
    expect(Object.fromEntries(errors)).toEqual({
      '/stars': english.mustBeWhole,
      '/color': english.mustBeFilled,
      '/remark': english.maxLength(200),
      '/place/city': english.minLength(2),
      '/anything': english.mustBeJson,
    });
    expect(fill({ '/stars': 'many' }).errors.get('/stars')).toBe(english.mustBeNumber);
    expect(fill({ '/stars': '9' }).errors.get('/stars')).toBe(english.atMost(5));
    expect(fill({ '/stars': '0' }).errors.get('/stars')).toBe(english.atLeast(1));
    expect(fill({}).errors.get('/place/city')).toBe(english.mustBeFilled);
  });
});

describe('toDraft', () => {
  it('restores the submitted value of every kind of field', () => {
    const value = {
      ...{ stars: 4, color: null, deliveryDate: '2026-05-01', gift: false, extras: ['card'], kind: 'b' },
      ...{ place: { city: 'Porto' }, anything: [{ a: 1 }] },
    };
    const draft = toDraft(fields, value);
    expect(draft.get('/place/city')).toBe('Porto');
    expect(draft.get('/anything')).toBe('[{"a":1}]');
    expect(toValue(fields, draft, english)).toEqual({ value, errors: new Map() });
  });

  it('leaves fields empty if the value does not match the schema', () => {
    const draft = toDraft(fields, { place: 'Porto', ['__proto__']: 1 });
    expect([...draft.values()].every((entered) => entered === undefined)).toBe(true);
  });
});
