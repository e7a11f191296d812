import { cp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { ConsentForm } from '#contract/consent.ts';
import { type ProcessEnd, runCommand, runProgram, startProcess, type TestProcess } from '#test/start-process.ts';
import { withKey } from '#test/start-service.ts';
import { openFolder } from '#test/temporary-folder.ts';
import { demoQuickApp, get, toConfiguration } from './cluster.ts';
import { killedAtStep, maxSteps } from './killed-at-step.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const configuration = toConfiguration('http://127.0.0.1:9');
const consentPath = '/v1/consent/app';
let bucket = '';

async function put(node: TestProcess, path: string, body: unknown): Promise<void> {
  const { status } = await node.sendRequest({ method: 'PUT', path, headers: withKey(), body });
  expect([path, [200, 201].includes(status)]).toEqual([path, true]);
}

function backUp(data: string, to: string, environment: Readonly<Record<string, string>> = {}): Promise<ProcessEnd> {
  return runCommand(['backup', '--data', data, '--to', to], environment);
}

function restore(from: string, data: string, ...flags: readonly string[]): Promise<ProcessEnd> {
  return runCommand(['restore', '--from', from, '--data', data, ...flags]);
}

/** Starts a node and stores a consent, an application, and a file. */
async function startNode(data: string): Promise<TestProcess> {
  const node = await startProcess({ configuration, flags: ['--data', data] });
  bucket = ((await get(node, '/v1/bucket')).json as { bucket: string }).bucket;
  return node;
}

async function storeAll(node: TestProcess, text = 'stored'): Promise<void> {
  const { consent } = (await get(node, consentPath)).json as { consent: ConsentForm };
  expect((await node.sendRequest({ path: consentPath, headers: withKey(), body: { consent } })).status).toBe(200);
  await put(node, `/v1/applications/${bucket}/stored`, demoQuickApp);
  await put(node, `/v1/files/${bucket}/stored.txt`, text);
}

/** Returns everything that clients read from a node. */
async function readAll(node: TestProcess): Promise<Readonly<Record<string, unknown>>> {
  const listing = await get(node, `/v1/metadata/files/${bucket}/?recursive=true`);
  const { items } = listing.json as { items: { url: string }[] };
  const read = async (path: string) => [path, (await get(node, path)).text] as const;
  const paths = [consentPath, `/v1/applications/${bucket}/stored`, ...items.map(({ url }) => `/v1/${url}`)];
  return { listing: listing.json, ...Object.fromEntries(await Promise.all(paths.map(read))) };
}

async function readModes(folder: string): Promise<Readonly<Record<string, string>>> {
  const names = ['', ...(await readdir(folder, { recursive: true }))];
  const modes = names.map(async (name) => [name, ((await stat(join(folder, name))).mode & 0o777).toString(8)]);
  return Object.fromEntries(await Promise.all(modes));
}

describe('parley backup and parley restore', () => {
  it('give a node the state of one moment, also under load', async () => {
    await using temporary = await openFolder();
    const [data, backup, restored] = ['data', 'backup', 'restored'].map((name) => join(temporary.path, name)) as [
      string,
      string,
      string,
    ];
    await using node = await startNode(data);
    await storeAll(node);
    let isDone = false;
    let writeCount = 0;
    const isWriting = async (from = writeCount) => vi.waitFor(() => expect(writeCount).toBeGreaterThan(from + 5), 30_000);
    const write = async (name: string): Promise<void> => {
      for (; !isDone; writeCount += 1) await put(node, `/v1/files/${bucket}/${name}/${writeCount % 5}.txt`, `${writeCount}`);
    };
    const writes = Promise.all(['a', 'b'].map(write));
    for (let round = 0; round < 3; round += 1) {
      await isWriting();
      const { code, stdout, stderr } = await backUp(data, backup);
      expect([code, stderr]).toEqual([0, expect.stringContaining('Copying the database')]);
      expect(stdout).toMatch(/^Backed up \S+ to \S+: the database and \d+ files \(\d+ new\)\n$/);
    }
    isDone = true;
    await writes;
    await using loaded = await startProcess({ configuration, flags: ['--data', await restoreTo(backup, restored)] });
    const state = await readAll(loaded);
    expect(state[`/v1/files/${bucket}/stored.txt`]).toBe('stored');
    expect(state[consentPath]).toBe('{"accepted":true}');
    const { items } = state.listing as { items: { url: string; contentLength: number }[] };
    expect(items.length).toBeGreaterThan(5);
    for (const { url, contentLength } of items) expect(String(state[`/v1/${url}`])).toHaveLength(contentLength);

    // Without load, the restored node has the same state as the original.
    const { stdout } = await backUp(data, backup);
    await using same = await startProcess({
      configuration,
      flags: ['--data', await restoreTo(backup, join(temporary.path, 'same'))],
    });
    expect(await readAll(same)).toEqual(await readAll(node));
    const { items: originals } = (await readAll(node)).listing as { items: unknown[] };
    expect(stdout).toContain(` ${originals.length} files`);
    expect(await readdir(join(backup, 'files'))).toHaveLength(originals.length);
    expect((await backUp(data, backup)).stdout).toContain(' (0 new)');
  });

  it('set modes that keep other users out', async () => {
    await using temporary = await openFolder();
    const [data, backup, restored] = ['data', 'backup', 'restored'].map((name) => join(temporary.path, name)) as [
      string,
      string,
      string,
    ];
    await using node = await startNode(data);
    await storeAll(node);
    const copy = ['umask 0; exec "$0" "$@"', process.execPath, 'dist/main.js', 'backup', '--data', data, '--to', backup];
    expect(await runProgram(['sh', '-c', ...copy])).toMatchObject({ code: 0 });
    await runProgram(['chmod', '-R', 'a+rwX', backup]);
    await restoreTo(backup, restored);
    const [blob = ''] = await readdir(join(restored, 'files'));
    const files = { [`files/${blob}`]: '600', lock: '600', 'parley.db': '600', secret: '600' };
    expect(await readModes(restored)).toEqual({ '': '700', files: '700', ...files });
    expect((await backUp(data, backup)).code).toBe(0);
    expect((await stat(backup)).mode & 0o777).toBe(0o700);
  });
});

async function restoreTo(backup: string, data: string): Promise<string> {
  const { code, stderr } = await restore(backup, data);
  if (code !== 0) throw new Error(stderr);
  return data;
}

describe('parley backup', () => {
  it('copies only the contents that an earlier backup does not have', async () => {
    await using temporary = await openFolder();
    const [data, backup] = ['data', 'backup'].map((name) => join(temporary.path, name)) as [string, string];
    await using node = await startNode(data);
    await storeAll(node);
    expect((await backUp(data, backup)).stdout).toContain(' 1 file (1 new)');
    const [first = ''] = await readdir(join(backup, 'files'));
    const { ino } = await stat(join(backup, 'files', first));
    await put(node, `/v1/files/${bucket}/second.txt`, 'second');
    expect((await backUp(data, backup)).stdout).toContain(' 2 files (1 new)');
    expect((await stat(join(backup, 'files', first))).ino).toBe(ino);
    await node.sendRequest({ method: 'DELETE', path: `/v1/files/${bucket}/second.txt`, headers: withKey() });
    expect((await backUp(data, backup)).stdout).toContain(' 1 file (0 new)');
    expect(await readdir(join(backup, 'files'))).toEqual([first]);
  });

  it.each([
    ['its first run', false],
    ['a later run', true],
  ])('leaves a complete backup or none if %s is killed at any step, and completes in the next run', async (_run, isLater) => {
    await using temporary = await openFolder();
    const [data, earlier] = ['data', 'earlier'].map((name) => join(temporary.path, name)) as [string, string];
    await using node = await startNode(data);
    await storeAll(node);
    if (isLater) expect((await backUp(data, earlier)).code).toBe(0);
    await node.sendRequest({ method: 'DELETE', path: `/v1/files/${bucket}/stored.txt`, headers: withKey() });
    await put(node, `/v1/files/${bucket}/second.txt`, 'second');
    await put(node, `/v1/files/${bucket}/third.txt`, 'third');
    let killed = 0;
    for (let step = 0; step < maxSteps; step += 1) {
      const [backup, restored] = ['backup', 'restored'].map((name) => join(temporary.path, `${name}-${step}`)) as [
        string,
        string,
      ];
      if (isLater) await cp(earlier, backup, { recursive: true });
      const { signal, code } = await backUp(data, backup, killedAtStep(step));
      if (signal !== 'SIGKILL') {
        expect(code).toBe(0);
        break;
      }
      killed += 1;
      const names: readonly string[] = await readdir(backup).catch(() => []);
      const isComplete = names.includes('parley.db');
      if (isLater) expect([step, isComplete]).toEqual([step, true]);
      expect([step, (await restore(backup, restored)).code]).toEqual([step, isComplete ? 0 : 2]);
      expect([step, await backUp(data, backup)]).toEqual([step, expect.objectContaining({ code: 0 })]);
      expect((await readdir(backup)).sort()).toEqual(['files', 'lock', 'parley-backup.txt', 'parley.db', 'secret']);
      expect(await readdir(join(backup, 'files'))).toHaveLength(2);
      await restoreTo(backup, `${restored}-again`);
    }
    expect(killed).toBeGreaterThan(8);
    await using same = await startProcess({ configuration, flags: ['--data', join(temporary.path, 'restored-0-again')] });
    expect(await readAll(same)).toEqual(await readAll(node));
  });

  it('rejects folders that it cannot use, and settings of PostgreSQL, with the next step', async () => {
    await using temporary = await openFolder();
    const at = (name: string): string => join(temporary.path, name);
    await using node = await startNode(at('data'));
    await storeAll(node);
    await using other = await startNode(at('other'));
    const rejections: [data: string, to: string, message: string, environment?: Record<string, string>][] = [
      [at('none'), at('backup'), 'Specify the data folder of a node with --data'],
      [at('data'), at('data'), 'Specify another folder with --to'],
      [at('data'), at('other'), 'Specify a new or an empty folder with --to'],
      [
        at('data'),
        at('backup'),
        '  pg_dump --format=custom --file=parley.dump "$PARLEY_DATABASE_URL"\n  aws s3 sync s3://bucket/a/ s3://bucket-copy/a/ --endpoint-url http://127.0.0.1:9\n',
        {
          PARLEY_DATABASE_URL: 'postgres://user:canary@127.0.0.1/x',
          PARLEY_FILES_URL: 's3://bucket/a?endpoint=http://127.0.0.1:9&accessKeyId=id&secretAccessKey=canary',
        },
      ],
    ];
    for (const [data, to, message, environment = {}] of rejections) {
      const { code, stdout, stderr } = await backUp(data, to, environment);
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
      expect(stderr).not.toContain('canary');
    }
    expect(await readdir(temporary.path)).not.toContain('backup');
    expect((await backUp(at('data'), at('backup'))).code).toBe(0);
    const { code, stderr } = await backUp(at('other'), at('backup'));
    expect([code, stderr]).toEqual([2, expect.stringContaining('has a backup of another database')]);
    expect((await get(other, '/health')).status).toBe(200);
  });

  it('keeps the earlier backup and names the files if contents are lost', async () => {
    await using temporary = await openFolder();
    const [data, backup] = ['data', 'backup'].map((name) => join(temporary.path, name)) as [string, string];
    await using node = await startNode(data);
    await storeAll(node, 'earlier');
    expect((await backUp(data, backup)).code).toBe(0);
    await put(node, `/v1/files/${bucket}/lost.txt`, 'lost');
    for (const name of await readdir(join(data, 'files')))
      if ((await readFile(join(data, 'files', name), 'utf8')) === 'lost') await writeFile(join(data, 'files', name), 'los');
    const { code, stderr } = await backUp(data, backup);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`files/${bucket}/lost.txt`)]);
    await using same = await startProcess({
      configuration,
      flags: ['--data', await restoreTo(backup, join(temporary.path, 'restored'))],
    });
    expect((await readAll(same))[`/v1/files/${bucket}/stored.txt`]).toBe('earlier');
  });

  it('prints its options for --help, and rejects missing ones', async () => {
    for (const [name, required] of [
      ['backup', '--to'],
      ['restore', '--from'],
    ] as const) {
      const { code, stdout } = await runCommand([name, '--help']);
      expect([code, stdout]).toEqual([0, expect.stringContaining(`${required} FOLDER`)]);
      expect(await runCommand([name])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`"${name}" requires ${required}`),
      });
    }
  });
});
