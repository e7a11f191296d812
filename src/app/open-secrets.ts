import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret } from '#base/secret.ts';
import { SettingFault } from './settings.ts';

/** The secret of a node that shares nothing: made once and kept in its data folder, so that what it sealed opens after a restart. Throws SettingFault. */
export async function openOwnSecret(dataFolder: string): Promise<Secret> {
  try {
    return await openSecretIn(dataFolder);
  } catch (thrown) {
    throw new SettingFault(
      `${dataFolder} cannot be used to keep data: ${thrown instanceof Error ? thrown.message : 'it gives no reason'}`,
    );
  }
}

async function openSecretIn(dataFolder: string): Promise<Secret> {
  const file = join(dataFolder, 'secret');
  await mkdir(dataFolder, { recursive: true, mode: 0o700 });
  try {
    await writeFile(file, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600, flush: true });
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown;
  }
  return new Secret((await readFile(file, 'utf8')).trim());
}
