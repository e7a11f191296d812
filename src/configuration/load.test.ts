import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#base/json/json.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { loadConfiguration, merge } from './load.ts';

const baseConfiguration = { models: { m: { upstreams: [{ protocol: 'demo' }] } }, keys: { 'a-key': { project: 'p' } } };
const picture = '<svg xmlns="http://www.w3.org/2000/svg"/>';

const mergeValues = (...values: readonly JsonObject[]) =>
  merge(values.map((value, index) => ({ file: `${index}.json`, value }))).value;

describe('merge', () => {
  it.each<[rule: string, files: JsonObject[], merged: JsonObject]>([
    ['returns an empty object for no files', [], {}],
    ['ignores an empty file', [{ a: 1 }, {}], { a: 1 }],
    ['combines the keys of all files', [{ a: 1 }, { b: 2 }], { a: 1, b: 2 }],
    ['replaces a scalar with a later scalar', [{ a: 1 }, { a: 'x' }, { a: false }], { a: false }],
    ['replaces a value with null', [{ a: { b: 1 } }, { a: null }], { a: null }],
    [
      'merges objects at any depth',
      [{ a: { b: { c: 1, d: 2 } } }, { a: { b: { d: 3, e: 4 } } }],
      { a: { b: { c: 1, d: 3, e: 4 } } },
    ],
    ['replaces a list with a later list', [{ a: [1, 2, 3] }, { a: [4] }], { a: [4] }],
    ['does not merge objects in lists', [{ a: [{ b: 1, c: 2 }] }, { a: [{ b: 3 }] }], { a: [{ b: 3 }] }],
    ['replaces a scalar with an object', [{ a: 1 }, { a: { b: 2 } }], { a: { b: 2 } }],
    ['replaces an object with a scalar', [{ a: { b: 2 } }, { a: 1 }], { a: 1 }],
    ['replaces a list with an object', [{ a: [1] }, { a: { 0: 2 } }], { a: { 0: 2 } }],
  ])('%s', (_, files, merged) => {
    expect(mergeValues(...files)).toEqual(merged);
  });

  it('does not modify the files', () => {
    const first = { a: { b: 1 } };
    const second = { a: { b: 2 } };
    mergeValues(first, second);
    expect([first, second]).toEqual([{ a: { b: 1 } }, { a: { b: 2 } }]);
  });

  it('keeps a key named __proto__ as an ordinary key', () => {
    const merged = mergeValues(
      JSON.parse('{"a": {"__proto__": {"x": 1}}}'),
      JSON.parse('{"a": {"__proto__": {"y": 2}}, "__proto__": {"z": 3}}'),
    );
    expect(JSON.stringify(merged)).toBe('{"a":{"__proto__":{"x":1,"y":2}},"__proto__":{"z":3}}');
    expect(Object.hasOwn({}, 'z')).toBe(false);
    expect(({} as JsonObject).z).toBeUndefined();
  });

  it('finds the file of each value, and the file of the parent for a missing value', () => {
    const { findFile: fileOf } = merge([
      { file: 'base', value: { a: { b: 1, c: [{ d: 1 }] }, e: {} } },
      { file: 'local', value: { a: { b: 2, f: 3 } } },
    ]);
    expect(fileOf(['a', 'b'])).toBe('local');
    expect(fileOf(['a', 'c'])).toBe('base');
    expect(fileOf(['a', 'c', 0, 'd'])).toBe('base');
    expect(fileOf(['a', 'f'])).toBe('local');
    expect(fileOf(['a', 'missing'])).toBe('local');
    expect(fileOf(['e', 'missing'])).toBe('base');
    expect(fileOf(['missing'])).toBe('local');
    expect(fileOf([])).toBe('local');
  });

  it('finds an empty file name if there are no files', () => {
    expect(merge([]).findFile(['a'])).toBe('');
  });
});

it('loadConfiguration reads a logo from the folder of the configuration and reports invalid logos', async () => {
  await using folder = await openFolder();
  const load = async (logo: string) => {
    const file = join(folder.path, 'parley.json');
    await writeFile(file, JSON.stringify({ ...baseConfiguration, page: { logo } }));
    const loaded = await loadConfiguration([file], {});
    return 'errors' in loaded ? loaded.errors.map(({ path, message }) => `${path} ${message}`) : loaded.configuration.page.logo;
  };
  await mkdir(join(folder.path, 'looks'));
  await writeFile(join(folder.path, 'looks/mark.SVG'), picture);
  await writeFile(join(folder.path, 'huge.png'), Buffer.alloc(300_000));
  expect(await load('looks/mark.SVG')).toBe(`data:image/svg+xml;base64,${Buffer.from(picture).toString('base64')}`);
  expect(await load('gone.png')).toEqual(['page.logo names a file that cannot be read']);
  expect(await load('huge.png')).toEqual(['page.logo names a file that is empty, or larger than 256 KiB']);
  expect(await load('/etc/passwd')).toEqual([expect.stringContaining('page.logo must be the name of a .svg')]);
});
