import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret } from '#base/secret.ts';
import { reasonOf } from './open-database.ts';
import { SettingFault } from './settings.ts';

const secretBytes = 32;

/** The secret of a node that shares nothing: made once and kept in its data folder, so that what it sealed opens after a restart. Throws SettingFault. */
export async function openOwnSecret(dataFolder: string): Promise<Secret> {
  const file = join(dataFolder, 'secret');
  const text = await (async () => (await read(file)) ?? (await make(file)))().catch((thrown) => {
    throw new SettingFault(`${file} cannot be used: ${reasonOf(thrown)}`);
  });
  if (text.trim() !== '') return new Secret(text.trim());
  throw new SettingFault(`${file} is empty: put it back from a copy, or remove it if nothing was kept yet`);
}

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT')) throw thrown;
  }
}

/** Written under another name first: a crash leaves none, never half of one. */
async function make(file: string): Promise<string> {
  const secret = randomBytes(secretBytes).toString('base64url');
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
