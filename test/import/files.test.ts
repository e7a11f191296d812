import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '#test/check-files.ts';
import { runCommand } from '#test/start-process.ts';
import { fixture, runImport } from './support.ts';

const dialSecrets =
  /vendor-key|extra-secret|hours-token|desk-key|no-role-key|office-key|overlay-key|redis-password|salt-of|storage-identity|storage-credential|encryption-(key|secret)-/;

describe('parley import with secrets', () => {
  it('does not print secrets of a DIAL configuration', async () => {
    const files = { 'core.json': await fixture('dial-core.json'), 'overlay.json': await fixture('dial-overlay.json') };
    const settings = await fixture('dial-settings.json');
    expect(`${files['core.json']}${settings}`).toMatch(dialSecrets);
    const { text, lines } = await runImport({ from: 'dial', files, settings });
    expect(text.length).toBeGreaterThan(1000);
    expect(text).not.toMatch(dialSecrets);
    expect(lines.join('\n')).not.toMatch(dialSecrets);
  });

  it('does not print secrets of a LiteLLM configuration', async () => {
    const config = await fixture('litellm-proxy.yaml');
    expect(config.match(/literal/g)).toHaveLength(9);
    const { text, lines } = await runImport({ from: 'litellm', files: { 'config.yaml': config } });
    expect(text.length).toBeGreaterThan(1000);
    expect(`${text}${lines.join('\n')}`).not.toContain('literal');
  });

  it('does not print secrets in a URL, in defaults, or in the endpoint of an application', async () => {
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

  it('does not print secrets in a list', async () => {
    const secrets = ['canary-5b1c9e', 'canary-77d0aa'];
    const defaults = { search: { api_keys: secrets, hosts: ['a.example'] } };
    const files = { 'core.json': JSON.stringify({ models: { m: { endpoint: 'http://x/v1/chat/completions', defaults } } }) };
    const { value, text, lines } = await runImport({ from: 'dial', files });
    expect(value).toHaveProperty('models.m.defaults.search', {
      api_keys: [`\${M_DEFAULTS_API_KEYS}`, `\${M_DEFAULTS_API_KEYS_2}`],
      hosts: ['a.example'],
    });
    expect(`${text}${lines.join('\n')}`).not.toMatch(/canary/);
  });
});

describe('unreadable file', () => {
  it.each([
    [
      'with invalid JSON',
      'dial',
      { 'a.json': '{\n  "models": {\n    "m" {}\n  }\n}' },
      'a.json: line 3, column 9: a colon is expected here',
    ],
    ['with invalid YAML', 'litellm', { 'a.yaml': 'model_list:\n  - a: [1\n' }, /^a\.yaml: line \d+, column \d+: /],
    [
      'with a duplicate key',
      'litellm',
      { 'a.yaml': 'model_list: []\nmodel_list: []\n' },
      'a.yaml: line 2, column 1: this key is a duplicate',
    ],
    [
      'with an alias without an anchor',
      'litellm',
      { 'a.yaml': 'model_list:\n  - *nobody\n' },
      'a.yaml: line 2, column 5: this alias has no anchor before it',
    ],
    ['that contains itself', 'litellm', { 'a.yaml': 'model_list: &a [*a]\n' }, 'a.yaml: is nested more than 64 levels deep'],
    [
      'of LiteLLM instead of DIAL',
      'dial',
      { 'a.yaml': 'model_list: []\n' },
      /^a\.yaml: is not a DIAL configuration: it has no models, /,
    ],
    [
      'of another gateway instead of LiteLLM',
      'litellm',
      { 'a.yaml': 'models: {}\n' },
      'a.yaml: is not a LiteLLM configuration: it has no model_list',
    ],
    [
      'with a list instead of an object',
      'dial',
      { 'a.json': '{\n "roles": {},\n "models": []\n}' },
      'a.json:3: models: must be an object',
    ],
    [
      'with an object instead of a list',
      'litellm',
      { 'a.yaml': 'x: 1\nmodel_list: {}\n' },
      'a.yaml:2: model_list: must be a list',
    ],
    ['that is a list', 'dial', { 'a.json': '[]' }, 'a.json: must contain an object'],
    ['that is empty', 'litellm', { 'a.yaml': '' }, 'a.yaml: is empty'],
  ] as const)('%s is reported with its location, without output on stdout', async (_what, from, files, message) => {
    const { exitCode, text, lines } = await runImport({ from, files });
    expect([exitCode, text]).toEqual([1, '']);
    expect(lines).toEqual([typeof message === 'string' ? message : expect.stringMatching(message)]);
  });

  it('is reported if its aliases expand to too many values', async () => {
    const levels = Array.from({ length: 9 }, (_, n) => `a${n}: &a${n} [${Array(10).fill(n === 0 ? 'x' : `*a${n - 1}`)}]`);
    const { exitCode, lines } = await runImport({
      from: 'litellm',
      files: { 'a.yaml': `${levels.join('\n')}\nmodel_list: []\n` },
    });
    expect([exitCode, lines]).toEqual([1, ['a.yaml: line 1, column 1: aliases expand to more than 10000 values']]);
  });

  it('is reported if it is larger than 16 MiB, does not exist, or is a folder', async () => {
    await using folder = await makeFolder();
    const huge = await folder.write('huge.json', `{"models": {}, "x": "${'x'.repeat(17 * 1024 * 1024)}"}`);
    const readError = async (file: string) => (await runCommand(['import', 'dial', file])).stderr.trim();
    expect(await readError(huge)).toBe(`${huge}: is larger than 16 MiB`);
    expect(await readError(join(folder.path, 'gone.json'))).toBe(`${join(folder.path, 'gone.json')}: does not exist`);
    expect(await readError(folder.path)).toBe(`${folder.path}: is a folder`);
  });
});

describe('parley import', () => {
  it('prints the configuration to stdout and omissions to stderr, and fails for omissions only with --strict', async () => {
    await using folder = await makeFolder();
    const lossy = await folder.write(
      'lossy.json',
      '{"models": {"m": {"endpoint": "http://x/v1/chat/completions", "tokenizerModel": "t"}}}',
    );
    const complete = await folder.write('whole.json', '{"models": {"m": {"endpoint": "http://x/v1/chat/completions"}}}');
    const loose = await runCommand(['import', 'dial', lossy]);
    expect(loose).toMatchObject({
      code: 0,
      stderr: `${lossy}:1: models.m.tokenizerModel: is not imported: Parley does not list tokenizers\n`,
    });
    expect(JSON.parse(loose.stdout)).toEqual({ models: { m: { upstreams: [{ endpoint: 'http://x/v1', model: 'm' }] } } });
    expect(await runCommand(['import', 'dial', lossy, '--strict'])).toMatchObject({ ...loose, code: 1 });
    expect(await runCommand(['import', 'dial', complete, '--strict'])).toMatchObject({
      code: 0,
      stdout: loose.stdout,
      stderr: '',
    });
  });

  it('does not count a secret that became a variable as an omission', async () => {
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
    [
      ['import', 'litellm', '--database', 'postgres://a', '--settings', 'b'],
      '--settings is only for "import dial". See parley --help',
    ],
  ])('rejects the arguments %j', async (args, message) => {
    expect(await runCommand(args)).toMatchObject({ code: 2, stdout: '', stderr: `parley: ${message}\n` });
  });

  it('prints its usage', async () => {
    const { code, stdout } = await runCommand(['import', '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/parley import dial FILE… \[--settings FILE\][\s\S]+parley import litellm FILE/);
  });
});
