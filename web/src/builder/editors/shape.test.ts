import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { buildQuickAppJsonSchema } from '#contract/quick-app/form.ts';
import { schemaGerman } from '../../locales/de/schema.ts';
import { schemaSpanish } from '../../locales/es/schema.ts';
import { schemaFrench } from '../../locales/fr/schema.ts';
import { withoutHiddenSecrets } from '../app-list.tsx';
import { getValueAt, withValueAt } from '../entry-parts.ts';
import { isParameters } from './parameters-editor.tsx';
import { findVariant, getInitialValue, toShape } from './shape.ts';

const schema = buildQuickAppJsonSchema('https://parley.example');

/** Tools with custom editors that have their own texts. */
const namesWithCustomEditor = new Set(['applications_as_tools', 'document_relative_url']);

/** Yields every text of a form generated from a schema. */
function* listTexts(part: JsonObject): Iterable<string> {
  for (const text of [part.title, part.description]) if (typeof text === 'string') yield text;
  const shape = toShape(part);
  if (isParameters(part)) return;
  if (shape.kind === 'list') yield* listTexts(shape.item);
  if (shape.kind === 'variants') for (const variant of shape.variants) yield* listTexts(variant.schema);
  if (shape.kind !== 'group') return;
  for (const { name, schema: inner } of shape.properties) {
    if (toShape(inner).kind === 'fixed') continue;
    if (namesWithCustomEditor.has(name)) yield* [String(inner.title), String(inner.description)];
    else yield* listTexts(inner);
  }
}

describe('the schema of quick apps', () => {
  it.each([
    ['German', schemaGerman],
    ['French', schemaFrench],
    ['Spanish', schemaSpanish],
  ])('is completely translated to %s', (_language, translations) => {
    const { title: _title, description: _description, ...form } = schema;
    expect([...new Set(listTexts(form))].filter((text) => !Object.hasOwn(translations, text))).toEqual([]);
  });

  it('has an editor for each setting, in schema order', () => {
    const shape = toShape(schema);
    expect(shape.kind === 'group' && shape.properties.map(({ name, schema: part }) => [name, toShape(part).kind])).toEqual([
      ['instructions', 'text'],
      ['model', 'text'],
      ['temperature', 'number'],
      ['starters', 'list'],
      ['context', 'group'],
      ['applications_as_tools', 'list'],
      ['client_toolset', 'list'],
      ['web_api_toolset', 'list'],
      ['web_api_toolset_alternative', 'list'],
      ['mcp_toolset', 'list'],
      ['document_relative_url', 'json'],
      ['retrieval', 'group'],
    ]);
  });

  it.each<[string, object]>([
    ['client_toolset', { name: '', description: '', parameters: [] }],
    ['web_api_toolset', { type: 'rest-api', name: '', tools: [] }],
    ['mcp_toolset', { type: 'mcp', name: '', mcp_server_info: { url: '', protocol: 'streamable_http' } }],
  ])('has a complete initial value for %s', (name, entry) => {
    const list = toShape(getValueAt(schema, ['properties', name]) as JsonObject);
    if (list.kind !== 'list') throw new Error('no list');
    const item = toShape(list.item);
    expect(getInitialValue(item.kind === 'variants' ? (item.variants[0]?.schema ?? {}) : list.item)).toEqual(entry);
  });

  it('distinguishes kinds of authorization by their discriminator', () => {
    const authorization = getValueAt(schema, [
      ...['properties', 'mcp_toolset', 'items', 'properties', 'mcp_server_info', 'properties', 'authorization'],
    ]);
    const shape = toShape(authorization as JsonObject);
    if (shape.kind !== 'variants') throw new Error('no variants');
    expect(shape.isNullable).toBe(true);
    expect(findVariant(shape.variants, { type: 'bearer', token: 'x' })?.constants).toEqual({ type: 'bearer' });
    expect(findVariant(shape.variants, null)).toBeUndefined();
    expect(findVariant(shape.variants, { type: 'magic' })).toBeUndefined();
  });
});

describe('withoutHiddenSecrets', () => {
  const server = (token: string): JsonObject => ({
    name: 'Board',
    mcp_server_info: { url: 'https://mcp.test/', protocol: 'sse', authorization: { type: 'bearer', token } },
  });
  const entry = (token: string): JsonObject => ({
    displayName: 'One',
    applicationProperties: { instructions: '***', mcp_toolset: [{ type: 'mcp', ...server(token) }] },
  });

  it('removes stored secrets', () => {
    expect(withoutHiddenSecrets(schema, entry('***'))).toEqual({ entry: entry(''), isChanged: true });
  });

  it('keeps entered secrets', () => {
    expect(withoutHiddenSecrets(schema, entry('typed'))).toEqual({ entry: entry('typed'), isChanged: false });
  });
});

describe('toShape', () => {
  it.each<[object, string]>([
    [{}, 'json'],
    [{ type: 'object' }, 'json'],
    [{ type: 'object', properties: { a: {} } }, 'json'],
    [{ type: 'array' }, 'json'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'json'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'text'],
    [{ type: ['string', 'null'] }, 'json'],
    [{ enum: [1, 2] }, 'json'],
    [{ type: 'string', format: 'password' }, 'text'],
  ])('maps %j to %s', (part, kind) => {
    expect(toShape(part as JsonObject).kind).toBe(kind);
  });
});

describe('withValueAt', () => {
  it('returns a changed copy and leaves the original unchanged', () => {
    const before = { a: [{ b: 1 }], c: 2 };
    expect(withValueAt(before, ['a', 0, 'b'], 3)).toEqual({ a: [{ b: 3 }], c: 2 });
    expect(before).toEqual({ a: [{ b: 1 }], c: 2 });
  });

  it('adds missing keys and removes keys', () => {
    expect(withValueAt({}, ['a', 0, 'b'], 1)).toEqual({ a: [{ b: 1 }] });
    expect(withValueAt({ a: { b: 1, c: 2 } }, ['a', 'b'], undefined)).toEqual({ a: { c: 2 } });
  });

  it('ignores keys of the prototype', () => {
    expect(getValueAt({}, ['constructor'])).toBeUndefined();
    const changed = withValueAt({}, ['__proto__', 'polluted'], true);
    expect(isJsonObject(changed) && Object.hasOwn(changed, '__proto__')).toBe(true);
    expect(getValueAt({}, ['polluted'])).toBeUndefined();
  });
});
