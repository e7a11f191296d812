import { mkdir, open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type FolderLock, lockFolder } from '#stores/files/folder-lock.ts';
import { reasonOf } from './open-database.ts';
import { SettingFault, type Settings } from './settings.ts';

/** Takes the data folder for this node, and makes it where it is not there. Undefined where nothing is kept in it. Throws SettingFault. */
export async function openDataFolder({ dataFolder, secrets, shared }: Settings): Promise<FolderLock | undefined> {
  if (secrets.length > 0 && shared.databaseUrl !== undefined && shared.files !== undefined) return undefined;
  const folder = resolve(dataFolder);
  const lock = await takeFolder(folder).catch((thrown) => {
    throw new SettingFault(`nothing can be kept in the data folder ${folder}: ${toWords(thrown)}; name another with ${ways}`);
  });
  if (lock !== undefined) return lock;
  throw new SettingFault(`the data folder ${folder} is in use by another Parley: stop that one, or name another with ${ways}`);
}

const ways = '--data or PARLEY_DATA';

async function takeFolder(folder: string): Promise<FolderLock | undefined> {
  await makeFolder(folder);
  await (await open(join(folder, 'lock'), 'a', 0o600)).close();
  return lockFolder(folder);
}

/** Step by step: Node's own way of making all of a path never ends where a system has a folder in which nothing can be made. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(folder) === folder) throw thrown;
    await makeFolder(dirname(folder));
    await mkdir(folder, { mode: 0o700 });
  }
}

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
}

const inWords: ReadonlyMap<unknown, string> = new Map([
  ['EACCES', 'this user may not write there'],
  ['EPERM', 'this user may not write there'],
  ['EROFS', 'it is read-only'],
  ['ENOSPC', 'there is no space left'],
  ['EDQUOT', 'there is no space left for this user'],
  ['ENOTDIR', 'it is no folder'],
  ['ENOENT', 'no folder can be made there'],
]);

function toWords(thrown: unknown): string {
  return inWords.get(codeOf(thrown)) ?? reasonOf(thrown);
}
