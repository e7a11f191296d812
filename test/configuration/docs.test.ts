import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { configurationJsonSchema } from '#configuration/json-schema.ts';
import { configurationReference } from '#configuration/reference.ts';

const root = join(import.meta.dirname, '../..');
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

describe('the reference', () => {
  it('has a row for each key, with shape, default and description', () => {
    const reference = configurationReference();
    expect(reference).toContain(
      '| `tools.maxTurns` | whole number | `15` | Calls of the model in one run; the last one has no tools. 1: no tools at all. |',
    );
    expect(reference).toContain(
      '| `models.<id>.upstreams[].protocol` | `openai`, `azure`, `anthropic`, `bedrock`, `vertex`, `gemini`, `mistral`, `dial`, `demo` |  |',
    );
    expect(reference).toContain('| `keys.<secret or name>.project` | string | required |');
    expect(reference).toContain('| `addons.<name>.authorization.password` | string | required | `basic`: ');
  });
});

it('the generated pages are what their source says', async () => {
  const run = promisify(execFile);
  await run(process.execPath, [join(root, 'scripts/generate-docs.ts'), '--check'], { cwd: root });
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
