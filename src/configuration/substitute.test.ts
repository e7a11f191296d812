// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the tests contain references
import { describe, expect, it } from 'vitest';
import { isReference, substitute } from './substitute.ts';

const environment = { NAME: 'x', EMPTY: '', PORT: '8080', ON: 'true', NESTED: '${NAME}', DOLLARS: '$& $1 $$' };
const substituteText = (text: string) => substitute({ a: text }, environment).value;

describe('substitute', () => {
  it.each([
    ['${NAME}', 'x'],
    ['a${NAME}b${NAME}', 'axbx'],
    ['${EMPTY}', ''],
    ['$${NAME}', '${NAME}'],
    ['$$${NAME}', '$${NAME}'],
    ['a$${b', 'a${b'],
    ['$NAME $ {NAME} $1', '$NAME $ {NAME} $1'],
    ['${NESTED}', '${NAME}'],
    ['${DOLLARS}', '$& $1 $$'],
    ['${PORT}', '8080'],
  ])('replaces %s by %s', (text, replaced) => {
    expect(substituteText(text)).toEqual({ a: replaced });
  });

  it.each(['${}', '${1A}', '${A B}', '${A:-b}', '${A', '${', '${__proto__', '${${NAME}}'])('reports %s as malformed', (text) => {
    expect(substitute({ a: [text] }, environment).errors).toMatchObject([
      { path: ['a', 0], message: expect.stringMatching(/^has a malformed reference to a variable$/) },
    ]);
  });

  it.each(['GONE', '__proto__', 'toString', 'constructor'])('reports that %s is not set', (name) => {
    expect(substitute({ a: { b: `-\${${name}}-` } }, environment).errors).toEqual([
      { path: ['a', 'b'], message: `needs the environment variable ${name}, which is not set` },
    ]);
  });

  it('reports every missing variable', () => {
    const { errors } = substitute({ a: '${ONE} ${TWO}', b: ['${THREE}'] }, environment);
    expect(errors.map(({ message }) => /variable (\w+)/.exec(message)?.[1])).toEqual(['ONE', 'TWO', 'THREE']);
  });

  it('replaces references in the names of entries of `keys`, and in no other property names', () => {
    const { value, writtenKeys } = substitute(
      { keys: { '${NAME}': { '${NAME}': '${NAME}' } }, models: { '${NAME}': 1, keys: { '${NAME}': 2 } } },
      environment,
    );
    expect(value).toEqual({ keys: { x: { '${NAME}': 'x' } }, models: { '${NAME}': 1, keys: { '${NAME}': 2 } } });
    expect([...writtenKeys]).toEqual([['x', '${NAME}']]);
  });

  it('reports two entries of `keys` whose names become equal', () => {
    const { errors } = substitute({ keys: { x: 1, '${NAME}': 2 } }, environment);
    expect(errors).toEqual([{ path: ['keys', '${NAME}'], message: 'is also the key of another entry' }]);
  });

  it('converts a string that is one reference to the expected type if possible', () => {
    const valid = {
      retrieval: { minScore: '${PORT}', passages: '${PORT}', embeddingModel: '${PORT}' },
      page: { sharing: '${ON}' },
    };
    expect(substitute(valid, environment).value).toEqual({
      retrieval: { minScore: 8080, passages: 8080, embeddingModel: '8080' },
      page: { sharing: true },
    });
    const invalid = { retrieval: { minScore: '${ON}', passages: '1${PORT}' }, page: { sharing: '${NAME}' } };
    expect(substitute(invalid, environment).value).toEqual({
      retrieval: { minScore: 'true', passages: '18080' },
      page: { sharing: 'x' },
    });
  });

  it('leaves values that are not strings unchanged', () => {
    expect(substitute({ a: [1, null, true, { b: 2 }] }, environment).value).toEqual({ a: [1, null, true, { b: 2 }] });
  });
});

describe('substitute with references to files', () => {
  const readFile = (path: string) => (path === '/run/secrets/x' ? { text: 'secret' } : { error: 'does not exist' });

  it('replaces the reference with the text of the file, also within a string and in the name of an entry of `keys`', () => {
    const value = { a: '${file:/run/secrets/x}', b: 'Bearer ${file:/run/secrets/x}!', keys: { '${file:/run/secrets/x}': 1 } };
    expect(substitute(value, {}, { readFile })).toMatchObject({
      value: { a: 'secret', b: 'Bearer secret!', keys: { secret: 1 } },
      errors: [],
    });
    expect(substitute('$${file:/run/secrets/x}', {}, { readFile }).value).toBe('${file:/run/secrets/x}');
  });

  it('reports the path and the file of an invalid reference', () => {
    expect(substitute({ a: ['${file:/gone}'] }, {}, { readFile }).errors).toEqual([
      { path: ['a', 0], message: 'needs the file /gone, which does not exist' },
    ]);
    expect(substitute('${file:/run/secrets/x}', {}).errors).toHaveLength(1);
  });
});

it('substitute adds a hint to a missing variable if the process is running', () => {
  const [error] = substitute('${GONE}', {}, { isRunning: true }).errors;
  expect(error?.hint).toContain('fixed at its start');
  expect(substitute('${GONE}', {}).errors[0]?.hint).toBeUndefined();
});

describe('isReference', () => {
  it('returns true only for one complete reference', () => {
    expect(['${A}', '${a_1}', '$${A}', '${A}b', '${}', '${A', 'A'].map(isReference)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
  });
});
