// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to the environment are written so
import { expect, it } from 'vitest';
import { checkFiles, checkValue } from '#test/check-files.ts';

const canary = 'sk-canary-7f3a';

it.each([
  ['a key whose entry is faulty', { keys: { [canary]: { projekt: 'p' } } }],
  ['a key whose entry is no object', { keys: { [canary]: 'p' } }],
  ['a key with a line break', { keys: { [`${canary}\n`]: { project: 'p' } } }],
  ['a key that stands twice', { keys: { [canary]: { project: 'p' }, b: { key: canary, project: 'p' } } }],
  ['a key out of the environment', { keys: { '${CANARY}': { project: 3 } } }],
  ['two keys that come to one', { keys: { '${CANARY}': { project: 'p' }, [canary]: { project: 'p' } } }],
  ['a key made of a part of the environment', { keys: { 'a${CANARY}': { project: 3 }, 'b${CANARY}${GONE}': {} } }],
  [
    'a key at a wrong place',
    { models: { m: { upstreams: [{ key: [canary], headers: { authorization: [canary] }, protocol: canary }] } } },
  ],
  ['a secret in an address', { models: { m: { upstreams: [{ endpoint: `http://user:${canary}@` }] } } }],
  ['a secret in an authorization', { addons: { a: { url: canary, authorization: { type: canary, token: canary } } } }],
  ['a secret as a limit', { tools: { timeoutMs: canary, maxTurns: '${CANARY}' } }],
])('no secret is told of %s', async (_, value) => {
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
])('no secret is told of a text that cannot be read: %s %#', async (name, text) => {
  const lines = await checkFiles({ [name]: text });
  expect(lines.join('\n')).toMatch(/line \d+, column \d+/);
  expect(lines.join('\n')).not.toContain(canary);
});

it('a key is told by the variable it comes from, else by its place', async () => {
  const value = { keys: { first: { key: 'x', project: '' }, '${CANARY}': {}, [canary]: {}, last: { sha256: 'x'.repeat(64) } } };
  expect(await checkValue(value, { CANARY: 'other' })).toEqual([
    'parley.json: keys.first.project: must not be empty',
    'parley.json: keys["${CANARY}"].project: is missing',
    'parley.json: keys["***#3"].project: is missing',
    'parley.json: keys.last.project: is missing',
    'parley.json: keys.last.sha256: must be a SHA-256 digest: 64 hexadecimal digits',
  ]);
});
