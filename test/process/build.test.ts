import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { hello } from '#test/chunks.ts';
import { openStream } from '#test/send-request.ts';
import { runProgram, startProcess, type TestProcess } from '#test/start-process.ts';
import { getChatPath, withKey } from '#test/start-service.ts';
import { openFolder, type TemporaryFolder } from '#test/temporary-folder.ts';
import packageJson from '../../package.json' with { type: 'json' };

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const root = fileURLToPath(new URL('../../', import.meta.url));
const sourcePaths = ['bin', 'src', 'samples', 'package.json', 'package-lock.json', 'tsconfig.json'];
const builders = ['scripts/build-service.ts', 'scripts/release/licenses.ts', 'scripts/stamped-build.ts'];

let checkout: TemporaryFolder;
let program: string;

// Builds a checkout whose sources the tests can change.
beforeAll(async () => {
  checkout = await openFolder();
  const { path } = checkout;
  for (const name of [...sourcePaths, ...builders]) await cp(join(root, name), join(path, name), { recursive: true });
  await symlink(join(root, 'node_modules'), join(path, 'node_modules'));
  await mkdir(join(path, 'web/dist'), { recursive: true });
  await writeFile(join(path, 'web/dist/index.html'), '<title>the page of this checkout</title>');
  program = join(path, 'bin/parley');
  expect(await build()).toMatchObject({ code: 0, stdout: expect.stringContaining('The service is built') });
});

afterAll(() => checkout[Symbol.asyncDispose]());

const build = () => runProgram([process.execPath, join(checkout.path, 'scripts/build-service.ts'), '--at-start']);

/** Edits a source file and expects that its text changes. */
async function edit(name: string, change: (text: string) => string): Promise<void> {
  const file = join(checkout.path, name);
  const text = await readFile(file, 'utf8');
  const changed = change(text);
  expect(changed).not.toBe(text);
  await writeFile(file, changed);
}

/** Starts the built service with the default configuration. Returns the node and headers with the key that it prints. */
async function startBuilt(): Promise<{ node: TestProcess; headers: Record<string, string> }> {
  const node = await startProcess({ configuration: null, program });
  await node.untilOutput(/#key=\S+\n/);
  expect(node.output.stderr).toBe('');
  return { node, headers: withKey(/#key=(\S+)/.exec(node.output.stdout)?.[1]) };
}

it('the built service serves a chat, a stream, a question about documents, embeddings, the page, and the API reference', async () => {
  const { node, headers } = await startBuilt();
  await using _node = node;
  const complete = await node.sendRequest({ path: getChatPath('demo'), headers, body: { messages: hello } });
  expect([complete.status, complete.completion.choices[0]?.finish_reason]).toEqual([200, 'stop']);
  const stream = await openStream(node.url, { path: getChatPath('demo'), headers, body: { stream: true, messages: hello } });
  const streamed = await stream.readRest();
  expect([streamed.isDone, streamed.content()]).toEqual([true, complete.completion.choices[0]?.message.content]);
  const question = [{ role: 'user', content: 'How long may I keep a borrowed book?' }];
  const answer = await node.sendRequest({ path: getChatPath('sample'), headers, body: { messages: question } });
  expect(answer.completion.choices[0]?.message.content).toContain('Books may be kept for three weeks');
  const vectors = await node.sendRequest({
    path: '/v1/embeddings',
    headers,
    body: { model: 'demo-embeddings', input: 'parley' },
  });
  expect((vectors.json as { data: { embedding: number[] }[] }).data[0]?.embedding).toHaveLength(384);
  const page = await node.sendRequest({ method: 'GET', path: '/' });
  expect(page.text).toContain('the page of this checkout');
  expect((await node.sendRequest({ method: 'GET', path: '/docs/scalar.js' })).status).toBe(200);
});

it.runIf(process.platform === 'linux')('bin/parley sets memory options unless they are already set', async () => {
  const startedWith = async (environment: Record<string, string>) => {
    await using node = await startProcess({ configuration: null, program, environment });
    const read = async (name: string) => (await readFile(`/proc/${node.pid}/${name}`, 'utf8')).split('\0');
    const allocator = (await read('environ')).filter((each) => each.startsWith('MALLOC_')).sort();
    return { allocator, flags: (await read('cmdline')).filter((each) => each.includes('semi-space')) };
  };
  expect(await startedWith({})).toEqual({
    allocator: ['MALLOC_ARENA_MAX=2', 'MALLOC_MMAP_THRESHOLD_=4194304', 'MALLOC_TRIM_THRESHOLD_=8388608'],
    flags: ['--max-semi-space-size=16'],
  });
  const { allocator, flags } = await startedWith({ MALLOC_ARENA_MAX: '8', NODE_OPTIONS: '--max-semi-space-size=64' });
  expect([allocator[0], flags]).toEqual(['MALLOC_ARENA_MAX=8', []]);
});

it('stack traces of the built service show files and lines of the sources', async () => {
  const statement = "throw new Error('an error of ours');";
  await edit('src/app/sample/sample.ts', (text) => text.replace(/^.+ await readFile\(/m, `  if (path !== '') ${statement}\n$&`));
  expect(await build()).toMatchObject({ code: 0, stdout: expect.stringContaining('The service is built') });
  const { node } = await startBuilt();
  await using _node = node;
  await node.untilOutput(/cannot store the documents of the sample app.*\n/);
  const [, file = '', line] = /at \S+ \((file:[^)]+\/src\/app\/sample\/sample\.ts):(\d+):\d+\)/.exec(node.output.stdout) ?? [];
  const source = await readFile(new URL(file), 'utf8');
  expect(source.split('\n')[Number(line) - 1]).toContain(statement);
  expect(node.output.stdout).not.toMatch(/dist\/[\w-]+\.js:/);
});

it('bin/parley reports an outdated build and runs the sources instead, and the next build replaces it', async () => {
  await edit('src/app/cli.ts', (text) => text.replace('Parley, a chat-completion gateway', 'Parley, another gateway'));
  const stale = await runProgram([program, '--help']);
  expect(stale).toMatchObject({ code: 0, stderr: expect.stringContaining('dist does not match the sources') });
  expect(stale.stdout).toContain('Parley, another gateway');
  expect(await build()).toMatchObject({ code: 0, stdout: expect.stringContaining('The service is built') });
  const fresh = await runProgram([program, '--help']);
  expect(fresh).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Parley, another gateway') });
  expect(await build()).toMatchObject({ code: 0, stdout: '' });
});

it('bin/parley runs from its sources without a build, and reports a build as outdated if a source was deleted', async () => {
  await rm(join(checkout.path, 'dist'), { recursive: true });
  expect(await runProgram([program, '--version'])).toMatchObject({ code: 0, stderr: '', stdout: `${packageJson.version}\n` });
  expect((await build()).code).toBe(0);
  await rm(join(checkout.path, 'src/app/commands/check-command.ts'));
  const { code, stderr } = await runProgram([program, 'check', 'parley.json']);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/dist does not match the sources[\s\S]+check-command\.ts/)]);
});

it('concurrent builds of multiple processes all succeed, and the last one is complete', async () => {
  await using folder = await openFolder();
  const script = `
    import { mkdirSync, writeFileSync } from 'node:fs';
    import { join } from 'node:path';
    import { runBuild } from ${JSON.stringify(new URL('../../scripts/stamped-build.ts', import.meta.url).href)};
    const names = Array.from({ length: 40 }, (_, index) => String(index));
    const build = async (made) => {
      mkdirSync(made, { recursive: true });
      for (const name of names) writeFileSync(join(made, name), stamp);
    };
    let stamp = '';
    for (let turn = 0; turn < 25; turn += 1) {
      stamp = process.pid + '-' + turn;
      await runBuild({ title: 'It', out: ${JSON.stringify(join(folder.path, 'out'))}, stamp, build });
    }`;
  const command = [process.execPath, '--input-type=module', '--eval', script];
  for (const { code, stderr } of await Promise.all(Array.from({ length: 5 }, () => runProgram(command))))
    expect([code, stderr]).toEqual([0, '']);
  const names = await readdir(join(folder.path, 'out'));
  const contents = await Promise.all(names.map((name) => readFile(join(folder.path, 'out', name), 'utf8')));
  expect([names.length, new Set(contents).size, await readdir(folder.path)]).toEqual([41, 1, ['out']]);
});
