import { describe, expect, it } from 'vitest';
import { parseText } from './parse-text.ts';

const place = (line: number, column: number) => `line ${line}, column ${column}`;

const wrongList = 'the indentation of this list is wrong, or its key has a value already';
const wrongDepth =
  'this line is indented as a continuation of the value above it, but contains a key. Indent it like the other keys, or put the value in quotes';

describe('parseText', () => {
  it.each([
    ['a.json', '{"a": [1, "x", null, true, {}]}', { a: [1, 'x', null, true, {}] }],
    ['a.json', '// one\n{ /* two */ "a": [1, 2,], "b": {"c": 1,}, }', { a: [1, 2], b: { c: 1 } }],
    ['a.jsonc', '\uFEFF{"a": "\\u00e9\\n"}', { a: 'é\n' }],
    ['a.JSON', '{}', {}],
    ['a.json', ' \n// nothing\n{}', {}],
    [
      'a.yaml',
      'a: 1\nb: [x, null, ~, true, 0x10, 1e3]\nc: {d: "e"}',
      { a: 1, b: ['x', null, null, true, 16, 1000], c: { d: 'e' } },
    ],
    ['a.yml', '\uFEFFa: |\n  two\n  lines\n', { a: 'two\nlines\n' }],
    ['a.yaml', '# nothing\n---\n{}', {}],
    ['a.yaml', 'a: &x {b: 1}\nc: *x', { a: { b: 1 }, c: { b: 1 } }],
    ['a.yaml', 'yes: no\n1: 2024-10-21\nnull: 12:30', { yes: 'no', 1: '2024-10-21', null: '12:30' }],
    ['a.yaml', '%YAML 1.1\n---\na: yes\nb: 0777', { a: 'yes', b: 777 }],
    ['a.yaml', 'a: "*"\n"*": b', { a: '*', '*': 'b' }],
  ])('reads %s: %j', async (file, text, value) => {
    expect(await parseText(file, text)).toEqual({ value });
  });

  it.each([
    ['a.json', '{\n  "a": 1\n  "b": 2\n}', place(3, 3), 'a comma is expected here'],
    ['a.json', '{"a": }', place(1, 7), 'a value is expected here'],
    ['a.json', "{'a': 1}", place(1, 2), 'this is not a JSON value: keys and strings need double quotes'],
    ['a.json', '{a: 1}', place(1, 2), 'this is not a JSON value: keys and strings need double quotes'],
    ['a.json', '{"a": 1} {}', place(1, 10), 'the end of the file is expected here'],
    ['a.json', '{"a": "x', place(1, 7), 'this string is not closed'],
    ['a.json', '{"a": "\\x"}', place(1, 7), 'this escape is not valid in JSON'],
    ['a.json', '{"a": 1, "a": 2}', place(1, 10), 'this key is a duplicate'],
    ['a.json', '{"a": {"__proto__": 1,\n "__proto__": 2}}', place(2, 2), 'this key is a duplicate'],
    ['a.yaml', 'a: 1\nb: 2\na: 3', place(3, 1), 'this key is a duplicate'],
    ['a.yaml', `a: &a 1\nb:\n${'- *a\n'.repeat(20_000)}`, place(1003, 3), 'there are more than 1000 aliases'],
    ['a.yaml', 'a: b: c', place(1, 4), 'this line has an extra colon. Put the value in quotes'],
    ['a.yaml', 'a:\n  b:\n- c: 1', place(3, 1), wrongList],
    ['a.yaml', 'a:\n  b:\n    - c: 1\n   - c: 2', place(4, 4), wrongList],
    ['a.yaml', 'a:\n  b: x\n    - c: 1', place(3, 8), wrongDepth],
    ['a.yaml', 'a:\n  b: x\n    c:\n      - 1', place(3, 6), wrongDepth],
    ['a.yaml', 'a:\n  - b: x\n      c: y', place(3, 8), wrongDepth],
    ['a.yaml', 'a:\n  - b: x\n   c: y', place(3, 1), 'the indentation is wrong here, or a dash is missing'],
    ['a.yaml', 'a:\n\tb: 1', place(2, 1), 'use spaces instead of tabs for indentation'],
    ['a.yaml', 'a: [1', place(1, 6), 'the indentation is wrong here, or a bracket before it is not closed'],
    ['a.yaml', 'a: "x', place(1, 6), 'a character is missing here, such as a colon, a quote or a bracket'],
    ['a.yaml', 'a: !!binary eA==', place(1, 4), 'tags are not supported'],
    ['a.yaml', 'a: !env X', place(1, 4), 'tags are not supported'],
    ['a.yaml', '? [a]\n: 1', place(1, 3), 'a key must be a plain word or a string'],
    ['a.yaml', 'a: 1\n---\nb: 2', place(2, 1), 'a second document starts here, but a file must contain only one'],
    ['a.yaml', 'a: *x', place(1, 4), 'this alias has no anchor before it'],
  ])('reports where %s is wrong: %j', async (file, text, path, message) => {
    expect(await parseText(file, text)).toEqual({ errors: [{ file, path, message }] });
  });

  it.each([
    ['a.json', ''],
    ['a.JSONC', ' \n// nothing\n/* {} */'],
    ['a.json', '\uFEFF'],
    ['a.yaml', ''],
    ['a.yml', '\n# nothing\n---\n'],
  ])('rejects %s if it is empty: %j', async (file, text) => {
    const hint = 'write {} for an empty configuration, or start without a file to run the demo';
    expect(await parseText(file, text)).toEqual({ errors: [{ file, path: '', message: 'is empty', hint }] });
  });

  it('rejects a large number of aliases immediately', async () => {
    const lines = ['a0: &a0 [x, x]'];
    for (let index = 1; index < 40; index++) lines.push(`a${index}: &a${index} [*a${index - 1}, *a${index - 1}]`);
    expect(await parseText('a.yaml', lines.join('\n'))).toHaveProperty('errors');
  });

  it.each(['a: &x [*x, *x]', `a: ${'['.repeat(100)}${']'.repeat(100)}`])(
    'rejects a value that contains itself or is nested too deeply: %s',
    async (text) => {
      expect(await parseText('a.yaml', text)).toEqual({
        errors: [{ file: 'a.yaml', path: '', message: 'is nested more than 64 levels deep' }],
      });
    },
  );

  it.each(['a.json', 'a.yaml'])('rejects a text that would exhaust the stack: %s', async (file) => {
    expect(await parseText(file, `${'['.repeat(200_000)}`)).toHaveProperty('errors');
  });

  it.each([
    ['a.json', '[]'],
    ['a.json', '"x"'],
    ['a.json', 'null'],
    ['a.yaml', '- x'],
  ])('rejects a value that is not an object: %s %s', async (file, text) => {
    expect(await parseText(file, text)).toEqual({ errors: [{ file, path: '', message: 'must contain an object' }] });
  });

  it.each(['a', 'a.json5', 'a.toml', 'a.json.bak'])('rejects a file name with an unknown extension: %s', async (file) => {
    expect(await parseText(file, '{}')).toEqual({
      errors: [{ file, path: '', message: 'must have a name that ends in .json, .jsonc, .yaml, .yml' }],
    });
  });
});
