import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '#test/check-files.ts';
import { runCommand } from '#test/start-process.ts';
import { fixture, runImport } from './support.ts';

const secretsOfDial =
  /vendor-key|extra-secret|hours-token|desk-key|no-role-key|office-key|overlay-key|redis-password|salt-of|storage-identity|storage-credential|encryption-(key|secret)-/;

describe('no secret', () => {
  it('of DIAL is copied or told', async () => {
    const files = { 'core.json': await fixture('dial-core.json'), 'overlay.json': await fixture('dial-overlay.json') };
    const settings = await fixture('dial-settings.json');
    expect(`${files['core.json']}${settings}`).toMatch(secretsOfDial);
    const { text, lines } = await runImport({ from: 'dial', files, settings });
    expect(text.length).toBeGreaterThan(1000);
    expect(text).not.toMatch(secretsOfDial);
    expect(lines.join('\n')).not.toMatch(secretsOfDial);
  });

  it('of LiteLLM is copied or told', async () => {
    const config = await fixture('litellm-proxy.yaml');
    expect(config.match(/literal/g)).toHaveLength(9);
    const { text, lines } = await runImport({ from: 'litellm', files: { 'config.yaml': config } });
    expect(text.length).toBeGreaterThan(1000);
    expect(`${text}${lines.join('\n')}`).not.toContain('literal');
  });

  it('in the query of an address, in settings of applications or among defaults is copied or told', async () => {
    const canary = 'canary-5b1c9e';
    const endpoint = `http://x/v1/chat/completions?code=${canary}&api-version=1`;
    const { text, lines } = await runImport({
      from: 'dial',
      files: {
        'core.json': JSON.stringify({
          models: { m: { endpoint, defaults: { tools: [{ authorization: { token: canary } }] } } },
          applications: { a: { endpoint: `http://user:${canary}@x/chat` } },
        }),
      },
    });
    expect(text).toContain('api-version=1');
    expect(`${text}${lines.join('\n')}`).not.toContain(canary);
  });
});

describe('a file that cannot be read', () => {
  it.each([
    [
      'of broken JSON',
      'dial',
      { 'a.json': '{\n  "models": {\n    "m" {}\n  }\n}' },
      'a.json: line 3, column 9: a colon is expected here',
    ],
    ['of broken YAML', 'litellm', { 'a.yaml': 'model_list:\n  - a: [1\n' }, /^a\.yaml: line \d+, column \d+: /],
    [
      'with a key that stands twice',
      'litellm',
      { 'a.yaml': 'model_list: []\nmodel_list: []\n' },
      'a.yaml: line 2, column 1: this key is a duplicate',
    ],
    [
      'with an alias of nothing',
      'litellm',
      { 'a.yaml': 'model_list:\n  - *nobody\n' },
      'a.yaml: line 2, column 5: this alias has no anchor before it',
    ],
    ['that holds itself', 'litellm', { 'a.yaml': 'model_list: &a [*a]\n' }, 'a.yaml: is nested more than 64 levels deep'],
    [
      'of the other gateway',
      'dial',
      { 'a.yaml': 'model_list: []\n' },
      /^a\.yaml: is not a DIAL configuration: it has no models, /,
    ],
    [
      'of another gateway',
      'litellm',
      { 'a.yaml': 'models: {}\n' },
      'a.yaml: is not a LiteLLM configuration: it has no model_list',
    ],
    [
      'with a list for an object',
      'dial',
      { 'a.json': '{\n "roles": {},\n "models": []\n}' },
      'a.json:3: models: must be an object',
    ],
    ['with an object for a list', 'litellm', { 'a.yaml': 'x: 1\nmodel_list: {}\n' }, 'a.yaml:2: model_list: must be a list'],
    ['that is a list', 'dial', { 'a.json': '[]' }, 'a.json: must contain an object'],
    ['that is empty', 'litellm', { 'a.yaml': '' }, 'a.yaml: is empty'],
  ] as const)('%s is told with its place, and nothing is printed', async (_what, from, files, said) => {
    const { exitCode, text, lines } = await runImport({ from, files });
    expect([exitCode, text]).toEqual([1, '']);
    expect(lines).toEqual([typeof said === 'string' ? said : expect.stringMatching(said)]);
  });

  it('because its aliases stand for too much, is told', async () => {
    const levels = Array.from({ length: 9 }, (_, n) => `a${n}: &a${n} [${Array(10).fill(n === 0 ? 'x' : `*a${n - 1}`)}]`);
    const { exitCode, lines } = await runImport({
      from: 'litellm',
      files: { 'a.yaml': `${levels.join('\n')}\nmodel_list: []\n` },
    });
    expect([exitCode, lines]).toEqual([1, ['a.yaml: line 1, column 1: aliases expand to more than 10000 values']]);
  });

  it('because it is huge, missing, a folder or no text, is told', async () => {
    await using folder = await makeFolder();
    const huge = await folder.write('huge.json', `{"models": {}, "x": "${'x'.repeat(17 * 1024 * 1024)}"}`);
    const saying = async (file: string) => (await runCommand(['import', 'dial', file])).stderr.trim();
    expect(await saying(huge)).toBe(`${huge}: is larger than 16 MiB`);
    expect(await saying(join(folder.path, 'gone.json'))).toBe(`${join(folder.path, 'gone.json')}: does not exist`);
    expect(await saying(folder.path)).toBe(`${folder.path}: is a folder`);
  });
});

describe('the command', () => {
  it('prints the configuration on stdout and what is lost on stderr, and fails only if it is told to be strict', async () => {
    await using folder = await makeFolder();
    const lossy = await folder.write(
      'lossy.json',
      '{"models": {"m": {"endpoint": "http://x/v1/chat/completions", "tokenizerModel": "t"}}}',
    );
    const whole = await folder.write('whole.json', '{"models": {"m": {"endpoint": "http://x/v1/chat/completions"}}}');
    const loose = await runCommand(['import', 'dial', lossy]);
    expect(loose).toMatchObject({
      code: 0,
      stderr: `${lossy}:1: models.m.tokenizerModel: is not imported: Parley does not list tokenizers\n`,
    });
    expect(JSON.parse(loose.stdout)).toEqual({ models: { m: { upstreams: [{ endpoint: 'http://x/v1', model: 'm' }] } } });
    expect(await runCommand(['import', 'dial', lossy, '--strict'])).toMatchObject({ ...loose, code: 1 });
    expect(await runCommand(['import', 'dial', whole, '--strict'])).toMatchObject({ code: 0, stdout: loose.stdout, stderr: '' });
  });

  it('does not take a secret that stands as a variable for a loss', async () => {
    const model = { endpoint: 'http://x/v1/chat/completions', upstreams: [{ key: 'a-literal-key' }] };
    const files = { 'a.json': JSON.stringify({ models: { m: model } }) };
    const { lines } = await runImport({ from: 'dial', files, isStrict: true });
    expect(lines).toContainEqual(
      expect.stringMatching(/^a\.json:1: models\.m\.upstreams\[0\]\.key: is a secret\. The result references it as \$\{M_KEY\}/),
    );
    const keys = { 'a-long-enough-key-1234': { project: 'p', role: 'r' } };
    expect(await runImport({ from: 'dial', files: { 'a.json': JSON.stringify({ keys }) }, isStrict: true })).toMatchObject({
      exitCode: 0,
      lines: [],
    });
  });

  it.each([
    [['import'], '"import" requires dial or litellm. See parley --help'],
    [['import', 'bifrost', 'x'], '"import" requires dial or litellm, not "bifrost". See parley --help'],
    [['import', 'dial'], '"import dial" requires at least one FILE. See parley --help'],
    [['import', 'litellm', 'a', 'b'], '"import litellm" requires exactly one FILE. See parley --help'],
    [['import', 'litellm', 'a', '--settings', 'b'], '--settings is only for "import dial". See parley --help'],
  ])('refuses %j', async (args, said) => {
    expect(await runCommand(args)).toMatchObject({ code: 2, stdout: '', stderr: `parley: ${said}\n` });
  });

  it('tells of itself', async () => {
    const { code, stdout } = await runCommand(['import', '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/parley import dial FILE… \[--settings FILE\][\s\S]+parley import litellm FILE/);
  });
});
