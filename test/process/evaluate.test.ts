import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder } from '#test/check-files.ts';
import { MemoryBlobs } from '#test/memory-blobs.ts';
import { MemoryFileIndex } from '#test/memory-file-index.ts';
import { openResponses, type ResponseDatabase } from '#test/response-stores.ts';
import { runCommand } from '#test/start-process.ts';
import { callerKey, startService, type TestService, withKey } from '#test/start-service.ts';
import { getApplicationPath } from '../applications/support.ts';

const examples = join(import.meta.dirname, '../../examples/evaluation');
const cases = join(examples, 'cases.yaml');
let database: ResponseDatabase;
let service: TestService;
let folder: Awaited<ReturnType<typeof makeFolder>>;

beforeAll(async () => {
  folder = await makeFolder();
  database = await openResponses('SQLite');
  const files = { index: new MemoryFileIndex(), blobs: new MemoryBlobs() };
  service = await startService({ models: { demo: { upstreams: [{ protocol: 'demo' }] } } }, { files, ...database.evaluating() });
});

afterAll(async () => {
  await service.close();
  await database[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const evaluate = (...args: string[]) =>
  runCommand(['evaluate', ...args], { PARLEY_URL: service.url, PARLEY_KEY: callerKey, LOG_LEVEL: 'info' });

async function save(name: string, example: string): Promise<void> {
  const body = await readFile(join(examples, example), 'utf8');
  const { status } = await service.sendRequest({ method: 'PUT', path: getApplicationPath(name), headers: withKey(), body });
  expect(status).toBeLessThan(300);
}

describe('parley evaluate', () => {
  it('finds the regression of the example and writes identical JSON for identical answers', async () => {
    const [one, two] = ['one.json', 'two.json'].map((name) => join(folder.path, name)) as [string, string];
    await save('guide', 'app.json');
    expect(await evaluate('guide', '--cases', cases, '--json', one)).toMatchObject({
      code: 0,
      stdout: 'version 1: 4 of 4 passed, 0 failed, 0 without an answer\n',
    });
    expect((await evaluate('guide', '--cases', cases, '--json', two, '--parallel', '1')).code).toBe(0);
    expect(await readFile(two, 'utf8')).toBe(await readFile(one, 'utf8'));
    await save('guide', 'app-changed.json');
    const junit = join(folder.path, 'junit.xml');
    const { code, stdout } = await evaluate('guide', '--cases', cases, '--against', '1', '--junit', junit);
    expect([code, stdout.split('\n')]).toEqual([
      1,
      [
        'FAILED  Weather of a city',
        '        calls: get_weather was called with {"place":"Oslo"}, not with {"city":"Oslo"}.',
        'version 2: 3 of 4 passed, 1 failed, 0 without an answer',
        'against version 1: 0 better, 1 worse, 3 unchanged, 0 with a different answer',
        'WORSE   Weather of a city',
        '',
      ],
    ]);
    expect(await readFile(junit, 'utf8')).toContain('tests="4" failures="1" errors="0"');
    expect((await evaluate('guide', '--cases', cases, '--version', '1')).code).toBe(0);
  });

  it('reads cases in JSON, JSON Lines, and CSV', async () => {
    await save('forms', 'app.json');
    const one = { name: 'n', input: 'Hello', checks: [{ type: 'contains', text: 'Hello' }] };
    const forms = {
      'list.json': JSON.stringify([one]),
      'object.json': `{ "cases": [${JSON.stringify(one)}], } // with a comment`,
      'lines.jsonl': `${JSON.stringify(one)}\n\n${JSON.stringify(one)}\n`,
      'table.csv': '\uFEFFname,input,contains\nn,Hello,Hello\n',
    };
    for (const [name, text] of Object.entries(forms)) {
      const { code, stdout, stderr } = await evaluate('forms', '--cases', await folder.write(name, text));
      expect([name, code, stderr.includes('parley:'), stdout]).toEqual([name, 0, false, expect.stringMatching(/^version 1: /)]);
    }
  });

  it.each([
    [[], '"evaluate" requires exactly one APP'],
    [['guide', '--version', 'x'], '--version must be a positive integer'],
    [['guide', '--url', 'x'], '--url must be a URL'],
    [['guide', '--cases', 'cases.txt'], 'cases.txt: the file name must end in .json'],
    [['guide', '--cases', 'absent.json'], 'absent.json: ENOENT'],
    [['nothing', '--cases', cases], 'parley: No application exists at this path'],
    [['guide', '--key', 'wrong'], '. Check the key in --key'],
    [['guide', '--url', 'http://127.0.0.1:2'], 'http://127.0.0.1:2 is unreachable (ECONNREFUSED)'],
  ])('exits with code 2 and a reason for the arguments %j', async (args, reason) => {
    const { code, stderr, stdout } = await evaluate(...args);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(reason)]);
  });

  it('reports the location of an invalid case in a file', async () => {
    const file = await folder.write('faulty.csv', 'input,matches\nfine,a\nx,(\n');
    expect((await evaluate('guide', '--cases', file)).stderr).toContain(
      'faulty.csv: [1].checks[0].pattern must be a regular expression',
    );
  });
});
