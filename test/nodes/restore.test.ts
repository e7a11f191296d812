import { cp, mkdir, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ProcessEnd, runCommand, startProcess } from '#test/start-process.ts';
import { withKey } from '#test/start-service.ts';
import { openFolder, type TemporaryFolder } from '#test/temporary-folder.ts';
import { get, toConfiguration } from './cluster.ts';
import { killedAtStep, maxSteps } from './killed-at-step.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

const configuration = toConfiguration('http://127.0.0.1:9');
let temporary: TemporaryFolder;
/** Data folder of a node that was killed with SIGKILL, so that its database still has a write-ahead log. */
let oldData = '';
let backup = '';
let count = 0;

beforeAll(async () => {
  temporary = await openFolder();
  oldData = await createData('old', ['one', 'two']);
  const data = await createData('data', ['three', 'four', 'five']);
  backup = join(temporary.path, 'backup');
  expect(await runCommand(['backup', '--data', data, '--to', backup])).toMatchObject({ code: 0 });
});

afterAll(() => temporary[Symbol.asyncDispose]());

async function createData(name: string, texts: readonly string[]): Promise<string> {
  const data = join(temporary.path, name);
  await using node = await startProcess({ configuration, flags: ['--data', data] });
  const { bucket } = (await get(node, '/v1/bucket')).json as { bucket: string };
  for (const text of texts)
    await node.sendRequest({ method: 'PUT', path: `/v1/files/${bucket}/${text}.txt`, headers: withKey(), body: text });
  return data;
}

/** Returns the path of a new folder, or of a copy of a folder. */
async function copyFolder(folder?: string): Promise<string> {
  count += 1;
  const copy = join(temporary.path, `copy-${count}`);
  if (folder !== undefined) await cp(folder, copy, { recursive: true });
  return copy;
}

function restore(from: string, data: string, ...flags: readonly string[]): Promise<ProcessEnd> {
  return runCommand(['restore', '--from', from, '--data', data, ...flags]);
}

/** Data of a node. */
interface State {
  readonly secret: string;
  readonly database: string;
  readonly texts: readonly string[];
}

/** Reads the data of a folder, including the write-ahead log. Rejects if a file that the database names is missing. */
async function readState(folder: string): Promise<State> {
  const copy = await copyFolder(folder);
  const database = new DatabaseSync(join(copy, 'parley.db'));
  const name = database.prepare('select name from database_name').get();
  const blobs = database.prepare('select blob from files').all();
  database.close();
  const texts = await Promise.all(blobs.map(({ blob }) => readFile(join(copy, 'files', String(blob)), 'utf8')));
  const secret = await readFile(join(copy, 'secret'), 'utf8');
  await rm(copy, { recursive: true });
  return { secret, database: String(name?.name), texts: texts.sort() };
}

async function findReplaced(data: string): Promise<readonly string[]> {
  return (await readdir(data)).filter((name) => name.startsWith('replaced-')).map((name) => join(data, name));
}

describe('parley restore', () => {
  it('moves the old data to a folder with --replace, and can restore it from there', async () => {
    const data = await copyFolder(oldData);
    const before = await readState(oldData);
    const { code, stdout } = await restore(backup, data, '--replace');
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^Restored the database and 3 files from .*\nThe replaced data is in /),
    ]);
    expect(await readState(data)).toEqual(await readState(backup));
    const [replaced = '', ...more] = await findReplaced(data);
    expect(more).toEqual([]);
    expect(await readState(replaced)).toEqual(before);
    expect(await readdir(data)).not.toContain('parley.db-wal');
    expect(await restore(replaced, data, '--replace')).toMatchObject({ code: 0 });
    expect(await readState(data)).toEqual(before);
  });

  it('loses no data if it is killed at any step, and completes in a second run', async () => {
    const [before, after] = [await readState(oldData), await readState(backup)];
    const seenSteps = new Set<string>();
    let killedRuns = 0;
    for (let step = 0; step < maxSteps; step += 1) {
      const data = await copyFolder(oldData);
      const args = ['restore', '--from', backup, '--data', data, '--replace'];
      const { signal, code } = await runCommand(args, killedAtStep(step));
      if (signal !== 'SIGKILL') {
        expect(code).toBe(0);
        break;
      }
      killedRuns += 1;
      const stepFolder = (await readdir(data)).find((name) => /^restore-[23]/.test(name));
      if (stepFolder !== undefined && !seenSteps.has(stepFolder)) {
        seenSteps.add(stepFolder);
        const message = expect.stringContaining(`Complete it with parley restore --from BACKUP --data ${data}`);
        expect(await runCommand(['serve', '--port', '0', '--data', data])).toMatchObject({ code: 1, stderr: message });
        expect(await runCommand(['backup', '--to', await copyFolder(), '--data', data])).toMatchObject({
          code: 2,
          stderr: message,
        });
      }
      if (stepFolder === undefined && (await findReplaced(data)).length === 0) expect(await readState(data)).toEqual(before);
      expect([step, await runCommand(args)]).toEqual([step, expect.objectContaining({ code: 0 })]);
      expect([step, await readState(data)]).toEqual([step, after]);
      expect(await Promise.all((await findReplaced(data)).map(readState))).toContainEqual(before);
      expect((await readdir(data)).filter((name) => name.startsWith('restore-'))).toEqual([]);
      await rm(data, { recursive: true });
    }
    expect([...seenSteps].sort()).toEqual(['restore-2-moving-old', 'restore-3-moving-new']);
    expect(killedRuns).toBeGreaterThan(15);
  });

  it('completes an interrupted restore of another backup first', async () => {
    const data = await copyFolder();
    await mkdir(join(data, 'restore-3-moving-new'), { recursive: true });
    await cp(backup, join(data, 'restore-3-moving-new'), { recursive: true });
    await writeFile(join(data, 'restore-3-moving-new/restored-from'), backup);
    const other = await copyFolder(backup);
    const first = await restore(other, data);
    expect(first).toMatchObject({ code: 2, stdout: `Completed the interrupted restore of ${backup} to ${data}\n` });
    expect(first.stderr).toContain('Use --replace');
    expect(await readState(data)).toEqual(await readState(backup));
  });

  it('rejects folders that it cannot use with code 2, and does not change them', async () => {
    const data = await copyFolder(oldData);
    const rejections: [from: string, data: string, flags: string[], message: string][] = [
      [backup, data, [], 'is not empty. Use --replace'],
      [data, data, ['--replace'], 'Specify the folder of the backup with --from'],
      [
        await copyFolder(),
        data,
        ['--replace'],
        'has no parley.db, or this user cannot read it. Specify the folder of a complete backup with --from',
      ],
      [backup, '/dev/full', [], 'it is not a folder'],
    ];
    for (const [from, to, flags, message] of rejections) {
      const { code, stdout, stderr } = await restore(from, to, ...flags);
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
    }
    const foreign = await copyFolder();
    await mkdir(foreign);
    await writeFile(join(foreign, 'notes.txt'), 'notes');
    expect((await restore(backup, foreign)).code).toBe(2);
    const environment = { PARLEY_DATABASE_URL: 'postgres://user:canary@127.0.0.1/x' };
    const { code, stderr } = await runCommand(['restore', '--from', backup, '--data', data, '--replace'], environment);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--dbname="$PARLEY_DATABASE_URL" parley.dump\n  rsync ')]);
    expect(stderr).not.toContain('canary');
    expect(await readState(data)).toEqual(await readState(oldData));
  });

  it('rejects the data folder of a running node with code 2', async () => {
    const data = await copyFolder(oldData);
    await using node = await startProcess({ configuration, flags: ['--data', data] });
    const { code, stderr } = await restore(backup, data, '--replace');
    expect([code, stderr]).toEqual([2, expect.stringContaining('is in use by another Parley. Stop that process')]);
    expect((await get(node, '/health')).status).toBe(200);
  });

  it('rejects a damaged, an unsupported, and an incomplete backup with code 1, and makes no changes', async () => {
    const data = await copyFolder(oldData);
    const damaged = await copyFolder(backup);
    const bytes = await readFile(join(damaged, 'parley.db'));
    bytes.fill(0x55, 20_000, 24_000);
    await writeFile(join(damaged, 'parley.db'), bytes);
    const newer = await copyFolder(backup);
    executeStatement(newer, 'insert into parley_migrations (version) values (9999)');
    const [incomplete, truncated] = [await copyFolder(backup), await copyFolder(backup)];
    const [blob = ''] = await readdir(join(backup, 'files'));
    await rm(join(incomplete, 'files', blob));
    await truncate(join(truncated, 'files', blob), 1);
    const foreign = await copyFolder();
    await mkdir(foreign);
    executeStatement(foreign, 'create table other (id text)');
    const noDatabase = await copyFolder();
    await mkdir(noDatabase);
    await writeFile(join(noDatabase, 'parley.db'), 'no database at all');
    const rejections = [
      [damaged, 'parley.db is damaged: '],
      [newer, 'has schema version 9999, but this program supports versions up to '],
      [incomplete, `(${blob}). Restore another backup`],
      [truncated, `(${blob}). Restore another backup`],
      [foreign, 'is not a database of Parley: no such table'],
      [noDatabase, 'is damaged: file is not a database'],
    ] as const;
    for (const [from, message] of rejections) {
      const { code, stdout, stderr } = await restore(from, data, '--replace');
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(message)]);
    }
    expect(await readState(data)).toEqual(await readState(oldData));
    expect(await findReplaced(data)).toEqual([]);
  });

  it('rejects a data folder whose folder of file contents is a link', async () => {
    const data = await copyFolder(oldData);
    const elsewhere = await copyFolder(join(oldData, 'files'));
    await rm(join(data, 'files'), { recursive: true });
    await symlink(elsewhere, join(data, 'files'));
    const { code, stderr } = await restore(backup, data, '--replace');
    expect([code, stderr]).toEqual([1, expect.stringContaining('is a link or on another disk')]);
    expect(await readState(data)).toEqual(await readState(oldData));
  });
});

function executeStatement(folder: string, statement: string): void {
  const database = new DatabaseSync(join(folder, 'parley.db'));
  database.exec(statement);
  database.close();
}
