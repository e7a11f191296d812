// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to the environment are written so
import { expect, it } from 'vitest';
import { checkFiles, checkValue } from '#test/check-files.ts';

const canary = 'sk-canary-7f3a';

it.each([
  ['a key with an invalid entry', { keys: { [canary]: { projekt: 'p' } } }],
  ['a key whose entry is not an object', { keys: { [canary]: 'p' } }],
  ['a key with a line break', { keys: { [`${canary}\n`]: { project: 'p' } } }],
  ['a duplicate key', { keys: { [canary]: { project: 'p' }, b: { key: canary, project: 'p' } } }],
  ['a key from the environment', { keys: { '${CANARY}': { project: 3 } } }],
  ['two entries with the same resolved key', { keys: { '${CANARY}': { project: 'p' }, [canary]: { project: 'p' } } }],
  ['a key that includes a variable', { keys: { 'a${CANARY}': { project: 3 }, 'b${CANARY}${GONE}': {} } }],
  [
    'a key in a wrong field',
    { models: { m: { upstreams: [{ key: [canary], headers: { authorization: [canary] }, protocol: canary }] } } },
  ],
  ['a secret in a URL', { models: { m: { upstreams: [{ endpoint: `http://user:${canary}@` }] } } }],
  ['a secret in an authorization', { addons: { a: { url: canary, authorization: { type: canary, token: canary } } } }],
  ['a secret as a limit', { tools: { timeoutMs: canary, maxTurns: '${CANARY}' } }],
])('parley check shows no secret for %s', async (_, value) => {
  const lines = await checkValue(value, { CANARY: canary });
  expect(lines.join('\n')).toMatch(/parley\.json: /);
  expect(lines.join('\n')).not.toContain(canary);
});

it.each([
  ['broken.json', `{"keys": {"${canary}": {"project": "p"}, "${canary}": ${canary}}}`],
  ['broken.json', `{"keys": {"${canary}`],
  ['broken.yaml', `keys:\n  ${canary}: {project: p}\n  ${canary}: [${canary}\n`],
  ['broken.yaml', `keys:\n  ${canary}: !${canary} x\n`],
  ['broken.yaml', `keys: *${canary}\n`],
])('parley check shows no secret of a file with a syntax error: %s %#', async (name, text) => {
  const lines = await checkFiles({ [name]: text });
  expect(lines.join('\n')).toMatch(/line \d+, column \d+/);
  expect(lines.join('\n')).not.toContain(canary);
});

it('parley check names a key by its variable or its position', async () => {
  const value = { keys: { first: { key: 'x', project: '' }, '${CANARY}': {}, [canary]: {}, last: { sha256: 'x'.repeat(64) } } };
  expect(await checkValue(value, { CANARY: 'other' })).toEqual([
    'parley.json: keys.first.project: must not be empty',
    'parley.json: keys["${CANARY}"].project: is missing',
    'parley.json: keys["***#3"].project: is missing',
    'parley.json: keys.last.project: is missing',
    'parley.json: keys.last.sha256: must be a SHA-256 digest: 64 hexadecimal digits',
  ]);
});
