import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { buildConfigurationJsonSchema, buildConfigurationReference } from './reference.ts';

const root = join(import.meta.dirname, '../..');

describe('buildConfigurationReference', () => {
  it('has a row for each key, with type, default, and description', () => {
    const reference = buildConfigurationReference();
    expect(reference).toContain(
      '| `tools.maxTurns` | integer | `15` | Maximum number of model calls in a run. The last call offers no tools, so 1 means no tools. |',
    );
    expect(reference).toContain(
      '| `models.<id>.upstreams[].protocol` | `openai`, `azure`, `anthropic`, `bedrock`, `vertex`, `gemini`, `mistral`, `dial`, `demo` |  |',
    );
    expect(reference).toContain('| `keys.<secret or name>.project` | string | required |');
    expect(reference).toContain('| `addons.<name>.authorization.password` | string | required | `basic`: ');
  });
});

it('generates pages that match their source', async () => {
  const run = promisify(execFile);
  await run(process.execPath, [join(root, 'scripts/generate-docs.ts'), '--check'], { cwd: root });
});

const ajv = new Ajv2020({ allErrors: true, formats: { password: true } });
const schema = buildConfigurationJsonSchema();
const isValid = ajv.compile(schema);

describe('buildConfigurationJsonSchema', () => {
  it('is a JSON Schema of 2020-12 with an id that accepts references for any scalar', () => {
    expect(schema).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'urn:parley:configuration' });
    expect(isValid({})).toBe(true);
    expect(isValid({ $schema: './x.json', tools: { maxTurns: ['$', '{TURNS}'].join('') } })).toBe(true);
    expect(isValid({ addin: { enabled: ['$', '{ON}'].join('') } })).toBe(true);
  });

  it.each([{ modles: {} }, { tools: { maxTurns: '15' } }, { models: { m: {} } }, { consent: { directCalls: 'x' } }])(
    'rejects %j',
    (value) => {
      expect(isValid(value)).toBe(false);
    },
  );

  it('describes the keys of quick apps', () => {
    const applicationTypeSchemaId = 'https://parley.example/custom_application_schemas/quickapps';
    const form = { model: 'demo', temperature: 0, instructions: 'Help.' };
    const withForm = (applicationProperties: object, more = {}) => ({
      applications: { a: { applicationTypeSchemaId, applicationProperties, ...more } },
    });
    expect(isValid(withForm(form))).toBe(true);
    expect(isValid(withForm({ ...form, mcp_tools: [] }))).toBe(false);
    expect(isValid(withForm({ any: 1 }, { endpoint: 'https://app.example' }))).toBe(true);
  });

  it('describes every key and its default', () => {
    expect(withoutDescription(schema, '')).toEqual([]);
    expect(schema).toMatchObject({ properties: { tools: { properties: { maxTurns: { default: 15 } } } } });
  });
});

/** Returns the paths of properties without a description. Constants and conditions need none. */
function withoutDescription(node: unknown, path: string): readonly string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, child]) => {
    if (key === 'if') return [];
    if (key !== 'properties') return withoutDescription(child, path);
    return Object.entries(child as Record<string, Record<string, unknown>>).flatMap(([name, property]) => {
      const isSilent = property.description === undefined && property.const === undefined;
      return [...(isSilent ? [`${path}.${name}`] : []), ...withoutDescription(property, `${path}.${name}`)];
    });
  });
}
