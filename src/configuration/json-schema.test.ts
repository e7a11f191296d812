import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { configurationJsonSchema } from './json-schema.ts';

const ajv = new Ajv2020({ allErrors: true, formats: { password: true } });
const schema = configurationJsonSchema();
const isValid = ajv.compile(schema);

describe('the schema for editors', () => {
  it('is a JSON Schema of 2020-12 with an id, whose references stand for any scalar', () => {
    expect(schema).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'urn:parley:configuration' });
    expect(isValid({})).toBe(true);
    expect(isValid({ $schema: './x.json', tools: { maxTurns: ['$', '{TURNS}'].join('') } })).toBe(true);
    expect(isValid({ addin: { enabled: ['$', '{ON}'].join('') } })).toBe(true);
  });

  it.each([{ modles: {} }, { tools: { maxTurns: '15' } }, { models: { m: {} } }, { consent: { directCalls: 'x' } }])(
    'refuses %j',
    (value) => {
      expect(isValid(value)).toBe(false);
    },
  );

  it('describes every key and tells its default', () => {
    expect(withoutDescription(schema, '')).toEqual([]);
    expect(schema).toMatchObject({ properties: { tools: { properties: { maxTurns: { default: 15 } } } } });
  });
});

/** The paths of properties that say nothing of themselves; constants need not. */
function withoutDescription(node: unknown, path: string): readonly string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, child]) => {
    if (key !== 'properties') return withoutDescription(child, path);
    return Object.entries(child as Record<string, Record<string, unknown>>).flatMap(([name, property]) => {
      const isSilent = property.description === undefined && property.const === undefined;
      return [...(isSilent ? [`${path}.${name}`] : []), ...withoutDescription(property, `${path}.${name}`)];
    });
  });
}
