import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createRandomSecret } from '#base/secrets/seal.ts';
import { Secret } from '#base/secrets/secret.ts';
import { type FolderLock, lockFolder } from '#stores/files/folder-lock.ts';
import { getReason, SettingError, type Settings } from '../settings.ts';

/**
 * Folders in a data folder while `parley restore` changes it. The first one is a copy that is not complete. While one of the
 * other two exists, a part of the data is in it, so a node must not start.
 */
export const restoreSteps = {
  copying: 'restore-1-copying',
  movingOld: 'restore-2-moving-old',
  movingNew: 'restore-3-moving-new',
} as const;

/**
 * Locks the data folder of a node, and creates it if it does not exist. Returns undefined if all state is stored elsewhere.
 * Throws SettingError.
 */
export async function openDataFolder({ dataFolder, secrets, shared }: Settings): Promise<FolderLock | undefined> {
  if (secrets.length > 0 && shared.databaseUrl !== undefined && shared.files !== undefined) return undefined;
  requireNoInterruptedRestore(dataFolder);
  return lockDataFolder(dataFolder);
}

/** Throws SettingError if a part of the data is in the folder of an interrupted restore. */
export function requireNoInterruptedRestore(dataFolder: string): void {
  const folder = resolve(dataFolder);
  const { movingOld, movingNew } = restoreSteps;
  if (!existsSync(join(folder, movingOld)) && !existsSync(join(folder, movingNew))) return;
  throw new SettingError(
    `a restore of the data folder ${folder} was interrupted. Complete it with parley restore --from BACKUP --data ${folder}`,
  );
}

/** Locks a data folder, and creates it if it does not exist. Throws SettingError. */
export async function lockDataFolder(dataFolder: string): Promise<FolderLock> {
  const folder = resolve(dataFolder);
  const lock = await openLock(folder).catch((error) => {
    throw new SettingError(
      `the data folder ${folder} cannot be used: ${describeError(error)}. Set another one with ${alternatives}`,
    );
  });
  if (lock !== undefined) return lock;
  throw new SettingError(
    `the data folder ${folder} is in use by another Parley. Stop that process, or set another folder with ${alternatives}`,
  );
}

const alternatives = '--data or PARLEY_DATA';

async function openLock(folder: string): Promise<FolderLock | undefined> {
  await createFolder(folder);
  await (await open(join(folder, 'lock'), 'a', 0o600)).close();
  return lockFolder(folder);
}

/** Creates a folder and its missing parents one by one, because Node's recursive mkdir never ends in a system folder such as `/proc`. */
async function createFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(folder) === folder) throw error;
    await createFolder(dirname(folder));
    await mkdir(folder, { mode: 0o700 });
  }
}

const errorTexts: ReadonlyMap<unknown, string> = new Map([
  ['EACCES', 'this user has no write permission there'],
  ['EPERM', 'this user has no write permission there'],
  ['EROFS', 'it is read-only'],
  ['ENOSPC', 'there is no space left'],
  ['EDQUOT', 'there is no space left for this user'],
  ['ENOTDIR', 'it is not a folder'],
  ['ENOENT', 'a folder cannot be created there'],
]);

function describeError(error: NodeJS.ErrnoException): string {
  return errorTexts.get(error.code) ?? getReason(error);
}

/**
 * Returns the secret of a node without PARLEY_SECRET. Creates it once in the data folder, so that sealed data can be opened after
 * a restart. Throws SettingError.
 */
export async function openOwnSecret(dataFolder: string): Promise<Secret> {
  const file = join(dataFolder, 'secret');
  const text = await (async () => (await readSecret(file)) ?? (await createSecret(file)))().catch((error) => {
    throw new SettingError(`${file} cannot be used: ${getReason(error)}`);
  });
  if (text.trim() !== '') return new Secret(text.trim());
  throw new SettingError(`${file} is empty. Restore it from a backup, or delete it if no data is stored yet`);
}

async function readSecret(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Creates the secret under a temporary name first, so that a crash never leaves a partial secret. */
async function createSecret(file: string): Promise<string> {
  const secret = createRandomSecret();
  const part = `${file}.part`;
  await rm(part, { force: true });
  const handle = await open(part, 'wx', 0o600);
  try {
    await handle.writeFile(secret);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(part, file);
  return secret;
}
