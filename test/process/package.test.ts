import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hello } from '#test/chunks.ts';
import { runProgram, startProcess } from '#test/start-process.ts';
import { getChatPath, withKey } from '#test/start-service.ts';
import { openFolder } from '#test/temporary-folder.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { createSbom } from '../../scripts/release/sbom.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 90_000 });

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const modules = join(root, 'node_modules');
const maxPackedBytes = 7_000_000;
const maxUnpackedBytes = 16_000_000;

/** Folder with the package in `node_modules/parley`. It is in the checkout's `node_modules`, where the package finds its dependencies. */
let project: string;
let folder: string;
let packedBytes: number;

beforeAll(async () => {
  await mkdir(join(modules, '.cache'), { recursive: true });
  project = await mkdtemp(join(modules, '.cache/parley-package-'));
  await run('npm', ['pack', '--silent', '--pack-destination', project], { cwd: root });
  const tarball = join(project, `parley-${packageJson.version}.tgz`);
  packedBytes = (await stat(tarball)).size;
  folder = join(project, 'node_modules/parley');
  await mkdir(folder, { recursive: true });
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', folder]);
});

afterAll(() => rm(project, { recursive: true, force: true }));

const listFiles = async (): Promise<readonly string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
};

describe('the npm package', () => {
  it('contains the built service and page, and no sources, tests, source maps, or stamps', async () => {
    const files = await listFiles();
    const rest = files.filter((file) => !/^dist\/[\w-]+\.js$/.test(file) && !/^web\/dist\/(assets\/)?[\w.-]+$/.test(file));
    expect(rest.sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'bin/parley',
      'deploy/parley.env.example',
      'deploy/parley.service',
      'dist/licenses.json',
      'docs/configuration.schema.json',
      'package.json',
      'samples/handbook.md',
      'samples/prices.csv',
      'samples/questions.html',
    ]);
    expect(files).toEqual(expect.arrayContaining(['dist/main.js', 'dist/sqlite-worker.js', 'web/dist/index.html']));
    expect(files.filter((file) => /\.(ts|tsx|map|stamp)$/.test(file))).toEqual([]);
  });

  it('is small', async () => {
    const sizes = await Promise.all((await listFiles()).map(async (file) => (await stat(join(folder, file))).size));
    expect(packedBytes).toBeLessThan(maxPackedBytes);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(maxUnpackedBytes);
  });

  it('depends on exactly the packages that the built service imports', async () => {
    const imported = new Set<string>();
    for (const file of await readdir(join(folder, 'dist'))) {
      const text = await readFile(join(folder, 'dist', file), 'utf8');
      const imports = text.matchAll(/(?:^import |\bfrom |\bimport\(|\b__require\()"((?:@[\w.-]+\/)?\w[\w.-]*)(?:\/[\w./-]+)?"/gm);
      for (const [, name = ''] of imports) if (!builtinModules.includes(name)) imported.add(name);
    }
    expect([...imported].sort()).toEqual(Object.keys(packageJson.dependencies).sort());
  });

  it('has the license texts of the packages whose code it contains', async () => {
    const readNames = async (file: string) =>
      (JSON.parse(await readFile(join(folder, file), 'utf8')) as { name: string; text?: string }[])
        .filter(({ text }) => text?.includes('Copyright'))
        .map(({ name }) => name);
    expect(await readNames('dist/licenses.json')).toEqual(expect.arrayContaining(['fastify', 'kysely', 'pino', 'typebox']));
    expect(await readNames('web/dist/licenses.json')).toEqual(expect.arrayContaining(['katex', 'react-dom', 'Public Sans']));
  });
});

describe('the bill of materials', () => {
  it('lists the packages that npm installs and the packages and files in the builds, without development tools', () => {
    const { components, dependencies, metadata } = createSbom(root, packageJson.name);
    const names = new Set(components.map(({ name }) => name));
    expect(metadata.component).toMatchObject({ name: packageJson.name, version: packageJson.version });
    expect(
      [...Object.keys(packageJson.dependencies), ...Object.keys(packageJson.optionalDependencies)].filter(
        (name) => !names.has(name),
      ),
    ).toEqual([]);
    expect(['fastify', 'fast-uri', 'react-dom'].filter((name) => !names.has(name))).toEqual([]);
    expect(components.flatMap(({ name, type }) => (type === 'file' ? [name] : []))).toEqual(['Public Sans']);
    expect(['typescript', 'vite', 'vitest'].filter((name) => names.has(name))).toEqual([]);
    const refs = [metadata.component, ...components].map((component) => component['bom-ref']);
    const used = dependencies.flatMap(({ ref, dependsOn = [] }) => [ref, ...dependsOn]);
    expect(used.filter((ref) => !refs.includes(ref))).toEqual([]);
  });
});

describe('the installed package', () => {
  const bin = () => join(folder, 'bin/parley');

  it('serves the demo, its documents, and the page with the Node version next to it', async () => {
    await mkdir(join(project, 'node_modules/.bin'), { recursive: true });
    await symlink(join(modules, '.bin/node'), join(project, 'node_modules/.bin/node'));
    await using node = await startProcess({ configuration: null, program: bin(), environment: { PATH: '/usr/bin:/bin' } });
    await node.untilOutput(/#key=\S+\n/);
    const headers = withKey(/#key=(\S+)/.exec(node.output.stdout)?.[1]);
    const chat = await node.sendRequest({ path: getChatPath('demo'), headers, body: { messages: hello } });
    expect([chat.status, chat.completion.choices[0]?.finish_reason]).toEqual([200, 'stop']);
    const question = [{ role: 'user', content: 'How long may I keep a borrowed book?' }];
    const answer = await node.sendRequest({ path: getChatPath('sample'), headers, body: { messages: question } });
    expect(answer.completion.choices[0]?.message.content).toContain('Books may be kept for three weeks');
    expect((await node.sendRequest({ method: 'GET', path: '/' })).text).toContain('<title>');
    expect((await node.sendRequest({ method: 'GET', path: '/docs/scalar.js' })).status).toBe(200);
    // One sample is HTML, which a separate process reads. It must be allowed to load its packages.
    expect(node.output.stdout).not.toContain('cannot search');
    expect(node.output.stderr).toBe('');
    if (process.platform !== 'linux') return;
    const [program] = (await readFile(`/proc/${node.pid}/cmdline`, 'utf8')).split('\0');
    expect(program).toBe(join(project, 'node_modules/.bin/node'));
  });

  it('skips older Node versions next to it and on the PATH, and reports that a newer one is missing', async () => {
    await using other = await openFolder();
    const copy = join(other.path, 'node_modules/parley');
    await cp(folder, copy, { recursive: true });
    const old = join(other.path, 'node_modules/.bin/node');
    await mkdir(dirname(old));
    const setVersion = "Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })";
    await writeFile(old, `#!/bin/sh\n[ "$1" = -e ] && exec ${process.execPath} -e "${setVersion}; $2"\n`, { mode: 0o755 });
    const runVersion = (path: string) => runProgram([join(copy, 'bin/parley'), '--version'], { PATH: `${path}:/usr/bin:/bin` });
    expect(await runVersion(dirname(process.execPath))).toMatchObject({
      code: 0,
      stdout: `${packageJson.version}\n`,
      stderr: '',
    });
    const missing = { code: 1, stdout: '', stderr: expect.stringContaining('Node 24 or later is missing') };
    expect(await runVersion(dirname(old))).toMatchObject(missing);
  });
});
