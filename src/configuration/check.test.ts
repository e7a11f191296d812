import fc from 'fast-check';
import '#test/same-cases.ts';
import { Compile } from 'typebox/compile';
import { describe, expect, it } from 'vitest';
import { checkFiles } from '#test/check-files.ts';
import { Configuration } from '../contract/configuration/configuration.ts';
import { explain } from '../contract/configuration/explain.ts';
import { complete } from '../contract/configuration/schema-node.ts';
import { isDeploymentId } from '../contract/deployment-path.ts';
import { checkConfiguration } from './check.ts';
import { parseText } from './parse-text.ts';

const sections = Object.keys(Configuration.properties);
const words = [
  'models',
  'upstreams',
  'endpoint',
  'key',
  'keys',
  'project',
  'type',
  'authorization',
  '__proto__',
  'constructor',
  'prototype',
];
const leaf = fc.oneof(
  fc.jsonValue({ maxDepth: 1 }),
  fc.constantFrom<unknown>('http://x', 'demo', 'embedding', 'basic', 1, true, '10.0.0.0/8', '2024-10-21'),
);
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.dictionary(fc.oneof(fc.constantFrom(...words, ...sections), fc.string()), tie('tree'), {
      maxKeys: 4,
      noNullPrototype: false,
    }),
    fc.array(tie('tree'), { maxLength: 3 }),
  ),
}));
const entries = fc.dictionary(fc.oneof(fc.constantFrom(...words), fc.string()), tree, { maxKeys: 4 });
const nearlyConfiguration = fc.dictionary(fc.constantFrom(...sections), entries, { maxKeys: 4 });

describe('checkConfiguration with any value', () => {
  it('returns a configuration or errors and does not throw', () => {
    fc.assert(
      fc.property(fc.oneof(tree, nearlyConfiguration, fc.anything()), (value) => {
        const checked = checkConfiguration(value);
        if ('errors' in checked) {
          expect(checked.errors.length).toBeGreaterThan(0);
          for (const { message } of checked.errors) expect(message).toMatch(/^(is|must|cannot|needs|has|names) /);
        } else {
          expect(checked.configuration.security.maxBodyBytes).toBeGreaterThan(0);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('returns errors exactly if the compiled schema rejects the value', () => {
    const schema = Compile(Configuration);
    fc.assert(
      fc.property(nearlyConfiguration, (value) => {
        const completed = complete(Configuration, value);
        expect(explain(Configuration, completed).length === 0).toBe(schema.Check(completed));
      }),
      { numRuns: 200 },
    );
  });

  it('does not modify the prototype of objects', () => {
    fc.assert(fc.property(tree, (value) => void checkConfiguration(value)));
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it('does not throw if the value is text', async () => {
    const text = fc.oneof(fc.string(), fc.json(), fc.string({ unit: fc.constantFrom(...'{}[]:,"\'&*!|>-?#%@ \n\tab1') }));
    await fc.assert(
      fc.asyncProperty(text, fc.constantFrom('a.json', 'a.yaml'), async (source, name) => {
        const parsed = await parseText(name, source);
        expect('value' in parsed || parsed.errors.length > 0).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe('checkConfiguration with any id', () => {
  const id = fc.oneof(
    fc.constantFrom('__proto__', 'constructor', 'toString', 'a/b~c', 'a.b', 'x["y"]', '0'),
    fc.string({ unit: 'grapheme' }),
  );

  it('keeps the id unchanged in JSON and YAML', async () => {
    await fc.assert(
      fc.asyncProperty(id, fc.constantFrom('a.json', 'a.yaml'), async (name, file) => {
        const text = `{"models": {${JSON.stringify(name)}: {"upstreams": [{"protocol": "demo"}]}}}`;
        const parsed = await parseText(file, text);
        if ('errors' in parsed) throw new Error(JSON.stringify(parsed.errors));
        const checked = checkConfiguration(parsed.value);
        const isAccepted = isDeploymentId(name) && !name.startsWith('applications/');
        expect('configuration' in checked).toBe(isAccepted);
        if ('configuration' in checked) {
          expect(Object.keys(checked.configuration.models)).toEqual([name]);
          expect(checked.configuration.models[name]?.upstreams[0]?.protocol).toBe('demo');
        }
      }),
    );
  });

  it('accepts ids that are names of members of every object', async () => {
    const text = (name: string) => `{"models": {"${name}": {"upstreams": [{"protocol": "demo"}]}}}`;
    const lines = await checkFiles({ 'a.json': text('__proto__'), 'b.yaml': text('constructor'), 'c.yaml': text('__proto__') });
    expect(lines.at(-1)).toBe(
      'a.json, b.yaml, c.yaml: no errors (2 models, 0 applications, 0 addons, 0 keys, 0 roles, 0 identity providers)',
    );
    const checked = checkConfiguration({});
    expect('configuration' in checked && checked.configuration.models.toString).toBeUndefined();
  });
});
