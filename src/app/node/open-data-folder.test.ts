import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFolder, type TemporaryFolder } from '#test/temporary-folder.ts';
import { readSettings } from '../settings.ts';
import { openDataFolder, openOwnSecret } from './open-data-folder.ts';

const hint = 'Set another one with --data or PARLEY_DATA';
let temporary: TemporaryFolder;

beforeAll(async () => {
  temporary = await openFolder();
});

afterAll(() => temporary[Symbol.asyncDispose]());

/** Locks a data folder as a node does at its start. */
function openFolderAt(PARLEY_DATA: string, environment: Readonly<Record<string, string>> = {}) {
  const flags = { config: undefined, host: undefined, port: undefined, data: undefined, tlsCert: undefined, tlsKey: undefined };
  return openDataFolder(readSettings(flags, { PARLEY_DATA, ...environment }));
}

describe('data folder', () => {
  it('can be locked again after its release', async () => {
    const lock = await openFolderAt(join(temporary.path, 'again'));
    await expect(openFolderAt(join(temporary.path, 'again'))).rejects.toThrow('in use by another Parley');
    lock?.release();
    (await openFolderAt(join(temporary.path, 'again')))?.release();
  });

  it('is not opened if all state is stored elsewhere', async () => {
    const externalStores = { PARLEY_DATABASE_URL: 'postgres://x', PARLEY_FILES_URL: 's3://bucket', PARLEY_SECRET: 'secret' };
    expect(await openFolderAt('/proc/x', externalStores)).toBeUndefined();
  });

  it.runIf(process.platform === 'linux').each([
    ['/proc/x', 'a folder cannot be created there'],
    ['/proc/self/x/y', 'a folder cannot be created there'],
    ['/dev/full', 'it is not a folder'],
    ['/dev/full/x', 'it is not a folder'],
    ['/sys/kernel', 'this user has no write permission there'],
  ])('is rejected with the reason if it is %s', async (data, reason) => {
    await expect(openFolderAt(data)).rejects.toThrow(`the data folder ${data} cannot be used: ${reason}. ${hint}`);
  });

  it('with an empty secret after a crash does not get a new secret', async () => {
    const data = join(temporary.path, 'emptied');
    await mkdir(data);
    await writeFile(join(data, 'secret'), '\n');
    await expect(openOwnSecret(data)).rejects.toThrow(`${join(data, 'secret')} is empty`);
    expect(await readFile(join(data, 'secret'), 'utf8')).toBe('\n');
  });

  it('keeps one secret even if a crash left a partial file', async () => {
    const data = join(temporary.path, 'secret');
    await mkdir(data);
    await writeFile(join(data, 'secret.part'), 'half');
    const secret = await openOwnSecret(data);
    expect(secret.reveal()).toMatch(/^[\w-]{43}$/);
    expect((await openOwnSecret(data)).reveal()).toBe(secret.reveal());
  });
});
