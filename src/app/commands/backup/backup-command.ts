import { existsSync } from 'node:fs';
import { chmod, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type FolderLock, lockFolder } from '#stores/files/folder-lock.ts';
import { requireNoInterruptedRestore } from '../../node/open-data-folder.ts';
import { readDataFolder, SettingError } from '../../settings.ts';
import type { BackupFlags } from './backup-flags.ts';
import {
  copyContents,
  copyDatabase,
  copyDurably,
  createIncompleteError,
  type DatabaseFacts,
  dataNames,
  deleteUnused,
  findMissing,
  readDatabase,
  syncFolder,
} from './data-copy.ts';
import { type CopyDeps, formatFiles, requireLocalStores, runCopy } from './run-copy.ts';

/** File that marks a folder as a backup. It is written first, so that an interrupted backup is recognized too. */
const markerName = 'parley-backup.txt';
const lockName = 'lock';
const maxTries = 3;

/** Runs `parley backup`. Returns the exit code. */
export function backupCommand(flags: BackupFlags, deps: CopyDeps): Promise<0 | 1 | 2> {
  return runCopy(deps, () => backUp(flags, deps));
}

async function backUp(flags: BackupFlags, deps: CopyDeps): Promise<void> {
  const data = resolve(readDataFolder(flags.data, deps.environment));
  const target = resolve(flags.to);
  const contentsNote = requireLocalStores('backup', data, deps.environment);
  requireNoInterruptedRestore(data);
  if (!existsSync(join(data, dataNames.database)))
    throw new SettingError(
      `${data} has no ${dataNames.database}, or this user cannot read it. Specify the data folder of a node with --data`,
    );
  if (data === target) throw new SettingError(`${target} is the data folder. Specify another folder with --to`);
  const lock = await openTarget(target);
  try {
    const { facts, copiedCount } = await copyData({ data, target, hasContents: contentsNote === undefined }, deps);
    const files = contentsNote === undefined ? ` and ${formatFiles(facts.contents.size)} (${copiedCount} new)` : '';
    deps.show(`Backed up ${data} to ${target}: the database${files}`);
    if (contentsNote !== undefined) deps.show(contentsNote);
    if (!existsSync(join(target, dataNames.secret))) deps.show('The data folder has no secret. Store PARLEY_SECRET separately');
  } finally {
    lock.release();
  }
}

/** Creates and locks the folder of a backup. Throws SettingError if the folder has other files or is in use. */
async function openTarget(target: string): Promise<FolderLock> {
  await mkdir(target, { recursive: true, mode: 0o700 });
  // A crash can leave the lock without the marker.
  const names = (await readdir(target)).filter((name) => name !== 'lost+found' && name !== lockName);
  if (names.length > 0 && !names.includes(markerName))
    throw new SettingError(`${target} has other files. Specify a new or an empty folder with --to, or an earlier backup`);
  await (await open(join(target, lockName), 'a', 0o600)).close();
  const lock = lockFolder(target);
  if (lock === undefined) throw new SettingError(`${target} is in use by another parley backup. Wait until it ends`);
  await chmod(target, 0o700);
  await writeFile(join(target, markerName), markerText, { mode: 0o600 });
  return lock;
}

const markerText = `Backup of a data folder of Parley. Restore it with: parley restore --from FOLDER --data DIR
If this folder has no parley.db, the backup was interrupted. Run parley backup again.
`;

interface CopyOptions {
  readonly data: string;
  readonly target: string;
  /** Whether the contents of files are in the data folder. */
  readonly hasContents: boolean;
}

/**
 * Copies the data. Returns the facts of the database, and the number of files whose contents the previous backup did not have. The
 * previous backup in the target stays complete until the last step.
 */
async function copyData(
  { data, target, hasContents }: CopyOptions,
  deps: CopyDeps,
): Promise<{ readonly facts: DatabaseFacts; readonly copiedCount: number }> {
  const [source, existing] = [join(data, dataNames.database), join(target, dataNames.database)];
  if (existsSync(existing) && readDatabase(existing).name !== readDatabase(source).name)
    throw new SettingError(`${target} has a backup of another database. Specify a new folder with --to`);
  const snapshot = `${existing}.next`;
  const [contents, contentsCopy] = [join(data, dataNames.contents), join(target, dataNames.contents)];
  let copiedCount = 0;
  for (let attempt = 1; ; attempt += 1) {
    // Copies contents before and after the database, because a running node adds and deletes contents in the meantime.
    if (hasContents) {
      deps.report('Copying the contents of files');
      copiedCount += await copyContents(contents, contentsCopy, deps);
    }
    deps.report('Copying the database');
    await copyDatabase(source, snapshot);
    if (hasContents) copiedCount += await copyContents(contents, contentsCopy, deps);
    const facts = readDatabase(snapshot);
    const missing = hasContents ? await findMissing(facts.contents, contentsCopy) : [];
    if (missing.length === 0) {
      await replaceBackup({ data, target, snapshot });
      if (hasContents) await deleteUnused(facts.contents, contentsCopy);
      return { facts, copiedCount };
    }
    if (attempt === maxTries) throw createIncompleteError(missing, facts.contents, contents, incompleteSuggestion);
    for (const name of missing) await rm(join(contentsCopy, name), { force: true });
  }
}

const incompleteSuggestion =
  'Run the command again. If it lists the same files, their contents are lost. Upload or delete these files. An earlier backup is unchanged';

async function replaceBackup({ data, target, snapshot }: { data: string; target: string; snapshot: string }): Promise<void> {
  const secret = join(target, dataNames.secret);
  if (!(await copyDurably(join(data, dataNames.secret), secret))) await rm(secret, { force: true });
  await rename(snapshot, join(target, dataNames.database));
  await syncFolder(target);
}
