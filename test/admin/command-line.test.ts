// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to the environment are written so
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeFolder } from '#test/check-files.ts';
import { runAdministration } from '#test/command-line.ts';
import { runCommand } from '#test/start-process.ts';
import type { TestService } from '#test/start-service.ts';
import { startRuntimeAdmin } from './support.ts';

const demo = { upstreams: [{ protocol: 'demo' }] };
const openai = { protocol: 'openai', endpoint: 'https://a.example/v1' };
const keys = {
  office: { project: 'office', role: 'admin', key: 'admin-key' },
  audit: { project: 'audit', role: 'auditor', key: 'auditor-key' },
  user: { project: 'user', key: 'user-key' },
};

const startParley = () => startRuntimeAdmin({ models: { file: demo }, keys });

interface Run {
  readonly code: number;
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
}

let folder: Awaited<ReturnType<typeof makeFolder>>;
let service: TestService;
let questions: string[];

beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());
beforeEach(async () => {
  questions = [];
  service = await startParley();
  return () => service[Symbol.asyncDispose]();
});

/** Runs a command in this process. With `answer`, stdin is a terminal, and the user gives this answer. */
async function parley(
  args: readonly string[],
  { environment = {}, answer }: { environment?: Record<string, string>; answer?: boolean } = {},
): Promise<Run> {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const ask = async (question: string): Promise<boolean> => {
    questions.push(question);
    return answer === true;
  };
  const code = await runAdministration(args, {
    environment: { PARLEY_URL: service.url, PARLEY_KEY: 'admin-key', ...environment },
    confirm: answer === undefined ? undefined : ask,
    report: (line) => void stderr.push(line),
    show: (line) => void stdout.push(line),
  });
  return { code, stdout, stderr };
}

const write = (name: string, content: object | string): Promise<string> =>
  folder.write(name, typeof content === 'string' ? content : JSON.stringify(content));
const findModels = () => Object.keys(service.snapshot.current().configuration.models).sort();

describe('parley apply', () => {
  it('stores the merged entries of JSON and YAML files with the variables of its environment', async () => {
    const secretFile = await write('secret', 'canary-file\n');
    const yaml = await write(
      'models.yaml',
      `models:\n  gpt:\n    displayName: $\${x}\n    upstreams: [{protocol: openai, endpoint: https://a.example, key: "\${GPT_KEY}"}]\n`,
    );
    const json = await write(
      'more.jsonc',
      `{ "keys": { "ci": { "project": "team", "key": "\${file:${secretFile}}" } }, // comment\n "models": { "gpt": { "iconUrl": "https://a.example/icon.svg" } }, }`,
    );
    const applied = await parley(['apply', '-f', yaml, json], { environment: { GPT_KEY: 'canary-key' } });
    expect([applied.code, applied.stderr]).toEqual([0, []]);
    expect(applied.stdout.map((line) => line.split(':')[0])).toEqual([
      '+ models.gpt',
      '+ keys.ci',
      expect.stringMatching(/^2 created, 0 updated, 0 deleted \(change \S+\)$/),
    ]);
    expect(applied.stdout.join()).not.toContain('canary');
    const gpt = service.snapshot.current().configuration.models.gpt;
    expect(gpt).toMatchObject({ displayName: '${x}', iconUrl: 'https://a.example/icon.svg', upstreams: [{ key: 'canary-key' }] });
    expect(
      (await service.chat('file', { messages: [{ role: 'user', content: 'hi' }] }, { 'api-key': 'canary-file' })).status,
    ).toBe(200);
    const again = await parley(['apply', '-f', yaml, json], { environment: { GPT_KEY: 'canary-key' } });
    expect(again).toEqual({ code: 0, stdout: ['0 created, 0 updated, 0 deleted'], stderr: [] });
  });

  it('only prints the changes with --dry-run, also for an auditor with a key file', async () => {
    const file = await write('one.json', { models: { one: demo } });
    const keyFile = await write('key', 'auditor-key\n');
    expect(await parley(['apply', '-f', file, '--dry-run', '--key-file', keyFile])).toEqual({
      code: 0,
      stdout: ['+ models.one: {"upstreams":[{"protocol":"demo"}]}', '1 to create, 0 to update, 0 to delete'],
      stderr: [],
    });
    expect(findModels()).toEqual(['file']);
  });

  it('prints the response with a summary with --output json', async () => {
    const file = await write('one.json', { models: { one: demo } });
    const { stdout } = await parley(['apply', '-f', file, '--output', 'json']);
    expect(JSON.parse(stdout.join('\n'))).toEqual({
      ...{ object: 'list', dryRun: false, change: expect.any(String), summary: { created: 1, updated: 0, deleted: 0 } },
      data: [{ kind: 'models', id: 'one', action: 'created', differences: [{ path: 'models.one', after: demo }] }],
    });
  });

  it('names the file and path of each section that is not a kind, and sends no request', async () => {
    const good = await write('good.json', { $schema: 'x', models: { one: demo } });
    const bad = await write('bad.yaml', 'security: {maxBodyBytes: 1}\nmodles: {}\nkeys: {"${CI_KEY}": {project: x}}\n');
    const { code, stdout, stderr } = await parley(['apply', '-f', good, bad], { environment: { CI_KEY: 'canary' } });
    expect([code, stdout, stderr]).toEqual([
      1,
      [],
      [
        expect.stringContaining(`${bad}: security: cannot be changed at run time. Keep it in the configuration files`),
        `${bad}: modles: is not a section of the configuration. Did you mean models?`,
        expect.stringContaining(`${bad}: keys["\${CI_KEY}"]: has a reference as its name`),
        'parley: The files are invalid. They were not sent',
      ],
    ]);
    expect(findModels()).toEqual(['file']);
  });

  it.each([
    ['missing.json', undefined, 'missing.json: does not exist'],
    ['syntax.json', '{', 'syntax.json: line 1, column 2'],
    [
      'variable.json',
      '{"models": {"m": {"displayName": "${NOT_SET}"}}}',
      'variable.json: models.m.displayName: needs the environment variable NOT_SET',
    ],
  ])('reports the error of %s', async (name, content, message) => {
    const path = content === undefined ? `${folder.path}/${name}` : await write(name, content);
    const { code, stderr } = await parley(['apply', '-f', path]);
    expect([code, stderr[0]]).toEqual([1, expect.stringContaining(message)]);
  });

  it('reports every error of the service with its file and path', async () => {
    const one = await write('one.json', { models: { one: { upstreams: [{ ...openai, weight: -1 }] }, file: demo } });
    const two = await write('two.json', { models: { two: { upstreams: [{ ...openai, endpoint: 'x' }] } }, roles: { 'a.b': 1 } });
    const shape = await parley(['apply', '-f', one, two]);
    expect([shape.code, shape.stderr[0]]).toEqual([1, `${two}: roles["a.b"]: must be an object`]);
    await write('two.json', { models: { two: { upstreams: [{ ...openai, endpoint: 'x' }] } } });
    const { code, stderr, stdout } = await parley(['apply', '-f', one, two, '--output', 'json']);
    expect([code, stderr]).toEqual([
      1,
      [
        `${one}: models.one.upstreams[0].weight: must be 0 or more`,
        expect.stringContaining(`${two}: models.two.upstreams[0].endpoint: must be`),
        'parley: The service rejects the document. No entry was changed',
      ],
    ]);
    expect(JSON.parse(stdout.join('\n'))).toMatchObject({
      error: { code: 'invalid_request', errors: [{ file: one, path: 'models.one.upstreams[0].weight' }, { file: two }] },
    });
  });

  it('names the fix if an entry is in a file of the service or if other entries need it', async () => {
    const file = await write('file.json', { models: { file: { ...demo, displayName: 'x' } } });
    expect((await parley(['apply', '-f', file])).stderr).toEqual([
      `${file}: models.file: is in a configuration file, which takes precedence`,
      expect.stringMatching(/^parley: The service rejects .* Change the configuration file of the service, or remove the entry/),
    ]);
    const all = await write('all.json', {
      roles: { night: {} },
      keys: { guard: { project: 'p', roles: ['night'], key: 'secret-of-guard' } },
    });
    expect((await parley(['apply', '-f', all])).code).toBe(0);
    const none = await write('none.json', { roles: {} });
    expect(await parley(['apply', '-f', none, '--prune', '--yes'])).toEqual({
      ...{ code: 1, stdout: [] },
      stderr: [
        'keys.guard: depends on the current value of another entry',
        expect.stringMatching(/^parley: The service rejects .* Change these entries in the same document, or delete/),
      ],
    });
  });

  describe('with --prune', () => {
    let pruned: string;
    beforeEach(async () => {
      await parley(['apply', '-f', await write('both.json', { models: { one: demo, two: demo }, roles: { staff: {} } })]);
      pruned = await write('pruned.json', { models: { one: demo } });
    });

    it('is a usage error without --yes if stdin is not a terminal', async () => {
      expect(await parley(['apply', '-f', pruned, '--prune'])).toEqual({
        ...{ code: 2, stdout: [] },
        stderr: [expect.stringContaining('Add --yes')],
      });
      expect(findModels()).toEqual(['file', 'one', 'two']);
    });

    it('prints the deletions and asks at a terminal', async () => {
      const refused = await parley(['apply', '-f', pruned, '--prune'], { answer: false });
      expect(refused).toEqual({ code: 1, stdout: [], stderr: ['- models.two', 'parley: No entry was changed'] });
      expect(findModels()).toEqual(['file', 'one', 'two']);
      const accepted = await parley(['apply', '-f', pruned, '--prune'], { answer: true });
      expect([accepted.code, accepted.stdout[0]]).toEqual([0, '- models.two: {"upstreams":[{"protocol":"demo"}]}']);
      expect(questions).toEqual(['Delete this entry?', 'Delete this entry?']);
      expect(findModels()).toEqual(['file', 'one']);
      expect((await parley(['apply', '-f', pruned, '--prune'], { answer: false })).code).toBe(0);
    });

    it('deletes with --yes the entries that its sections lack', async () => {
      const { code, stdout } = await parley(['apply', '-f', pruned, '--prune', '--yes']);
      expect([code, stdout.at(-1)]).toEqual([0, expect.stringMatching(/^0 created, 0 updated, 1 deleted/)]);
      expect(findModels()).toEqual(['file', 'one']);
    });
  });
});

describe('parley diff', () => {
  it('exits with 1 if there is a difference, and prints it by path without secrets', async () => {
    const document = { models: { gpt: { displayName: 'GPT', upstreams: [{ ...openai, key: 'canary-1' }] } } };
    const file = await write('gpt.json', document);
    await parley(['apply', '-f', file]);
    expect(await parley(['diff', '-f', file])).toEqual({
      code: 0,
      stdout: ['0 to create, 0 to update, 0 to delete'],
      stderr: [],
    });
    const changed = await write('changed.json', {
      models: { gpt: { displayName: 'New\u001b[2J', upstreams: [{ ...openai, key: 'canary-2' }] } },
    });
    expect(await parley(['diff', '-f', changed])).toEqual({
      code: 1,
      stdout: [
        '~ models.gpt.displayName: "GPT" → "New\\u001b[2J"',
        '~ models.gpt.upstreams[0].key: the secret changes',
        '0 to create, 1 to update, 0 to delete',
      ],
      stderr: [],
    });
    const pruning = await parley(['diff', '-f', await write('empty.json', { models: {} }), '--prune', '--output', 'json']);
    expect([pruning.code, JSON.parse(pruning.stdout.join('\n')).summary]).toEqual([1, { created: 0, updated: 0, deleted: 1 }]);
    expect(findModels()).toEqual(['file', 'gpt']);
  });
});

describe('parley export', () => {
  it.each([
    ['yaml', []],
    ['json', ['--output', 'json']],
  ])('prints %s that apply accepts on an empty service', async (extension, flags) => {
    const model = {
      displayName: 'literal ${NAME}',
      upstreams: [{ ...openai, key: 'canary-key', headers: { 'x-a': 'canary-header' } }],
    };
    const document = {
      models: { gpt: model },
      roles: { yes: {} },
      keys: { ci: { project: 'team', key: 'canary-of-the-pipeline' } },
    };
    const applied = await parley([
      'apply',
      '-f',
      await write(
        'all.json',
        JSON.stringify(document).replaceAll('${', () => '$${'),
      ),
    ]);
    expect(applied.code).toBe(0);
    const { code, stdout, stderr } = await parley(['export', ...flags]);
    expect([code, stderr]).toEqual([
      0,
      [
        'Secrets are not exported. Set these variables before you apply the document:',
        'MODELS_GPT_UPSTREAMS_0_KEY  for models.gpt.upstreams[0].key',
        'MODELS_GPT_UPSTREAMS_0_HEADERS_X_A  for models.gpt.upstreams[0].headers.x-a',
      ],
    ]);
    const exported = await write(`exported.${extension}`, stdout.join('\n'));
    expect(await readFile(exported, 'utf8')).not.toContain('canary');
    const environment = { MODELS_GPT_UPSTREAMS_0_KEY: 'canary-key', MODELS_GPT_UPSTREAMS_0_HEADERS_X_A: 'canary-header' };
    expect((await parley(['diff', '-f', exported], { environment })).code).toBe(0);
    await using second = await startParley();
    expect((await parley(['apply', '-f', exported], { environment: { ...environment, PARLEY_URL: second.url } })).code).toBe(0);
    expect(second.snapshot.current().configuration.models).toEqual(service.snapshot.current().configuration.models);
    expect((await parley(['export', ...flags], { environment: { PARLEY_URL: second.url } })).stdout).toEqual(stdout);
  });

  it('prints *** with --secrets hidden, which only the same service accepts', async () => {
    await parley([
      'apply',
      '-f',
      await write('a.json', {
        models: { a: { upstreams: [{ ...openai, key: 'k1' }] }, b: { upstreams: [{ ...openai, key: 'k2' }] } },
      }),
    ]);
    const { stdout, stderr } = await parley(['export', '--secrets', 'hidden']);
    expect(stderr).toEqual([]);
    const exported = await write('hidden.yaml', stdout.join('\n'));
    expect((await parley(['diff', '-f', exported])).code).toBe(0);
    await using second = await startParley();
    const rejected = await parley(['apply', '-f', exported], { environment: { PARLEY_URL: second.url } });
    expect(rejected.stderr).toEqual([
      expect.stringMatching(
        /hidden\.yaml: models\.a\.upstreams\[0\]\.key: is \*\*\*, but no secret is stored\. Enter the secret/,
      ),
      expect.stringMatching(
        /hidden\.yaml: models\.b\.upstreams\[0\]\.key: is \*\*\*, but no secret is stored\. Enter the secret/,
      ),
      expect.stringContaining('No entry was changed'),
    ]);
  });
});

describe('a connection error', () => {
  it.each([
    [{ PARLEY_KEY: 'wrong' }, 1, /Check the key in PARLEY_KEY$/],
    [{ PARLEY_KEY: 'user-key' }, 1, /requires the role admin or auditor.*\. Give the key in PARLEY_KEY the role admin/],
    [{ PARLEY_KEY: 'two words' }, 1, /key in PARLEY_KEY contains a space/],
    [{ PARLEY_KEY: '' }, 2, /PARLEY_KEY is not set/],
    [{ PARLEY_URL: 'parley' }, 2, /PARLEY_URL must be a URL/],
  ])('with %j names the fix', async (environment, code, message) => {
    const run = await parley(['export'], { environment });
    expect(run).toEqual({ code, stdout: [], stderr: [expect.stringMatching(message)] });
  });

  it('names the address of a service that is unreachable', async () => {
    await service.close();
    const { code, stderr } = await parley(['export']);
    const start = `parley: ${service.url} is unreachable (ECONNREFUSED). Start the service, or set its address`;
    expect([code, stderr]).toEqual([1, [expect.stringContaining(start)]]);
  });

  it('is reported for a server that is not Parley, which receives no key after a redirect', async () => {
    const paths: (string | undefined)[] = [];
    const server = createServer(({ url }, response) => {
      paths.push(url);
      if (url?.startsWith('/text')) response.end('hello');
      else response.writeHead(302, { location: '/other' }).end();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const run = async (path: string) => (await parley(['export', '--url', `${url}${path}`])).stderr[0];
    expect(await run('')).toContain('redirects to /other. Set the address of a Parley service');
    expect(await run('/text')).toContain('responded with 200, but without JSON');
    expect(paths).toEqual(['/v1/admin/export', '/text/v1/admin/export']);
    server.close();
  });
});

it('the process has the exit codes, and its stdin is not a terminal', async () => {
  const environment = { PARLEY_URL: service.url, PARLEY_KEY: 'admin-key' };
  const file = await write('one.json', { models: { one: demo } });
  const run = (...args: string[]) => runCommand(args, environment);
  expect(await run('diff', '-f', file)).toMatchObject({ code: 1, stderr: '' });
  expect(await run('apply', '-f', file)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 created, 0 updated, 0 deleted'),
  });
  expect(await run('apply', '-f', file, '--prune')).toMatchObject({ code: 2, stdout: '' });
  expect(await run('export')).toMatchObject({
    code: 0,
    stdout: 'models:\n  one:\n    upstreams:\n      - protocol: demo\n',
    stderr: '',
  });
  expect(await run('apply', '--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('--key-file FILE') });
});
