import { existsSync } from 'node:fs';
import { chmod, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type FolderLock, lockFolder } from '#stores/files/folder-lock.ts';
import { requireNoInterruptedRestore } from '../../node/open-data-folder.ts';
import { readDataFolder, SettingError } from '../../settings.ts';
import type { BackupFlags } from './backup-flags.ts';
import {
  copyContents,
  copyDatabase,
  copyDurably,
  type DatabaseFacts,
  dataNames,
  deleteUnused,
  findMissing,
  formatFiles,
  readDatabase,
  syncFolder,
} from './data-copy.ts';
import { requireLocalStores } from './other-stores.ts';
import { type CopyDeps, CopyError, formatBytes, formatCount, Progress, runCopy } from './run-copy.ts';

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
  const contentsNote = requireLocalStores('backup', { data, environment: deps.environment });
  requireNoInterruptedRestore(data);
  if (!existsSync(join(data, dataNames.database)))
    throw new SettingError(`${data} has no ${dataNames.database}, or this user cannot read it. Specify the data folder of a node with --data`);
  if (data === target) throw new SettingError(`${target} is the data folder. Specify another folder with --to`);
  const lock = await openTarget(target);
  try {
    const progress = new Progress(deps);
    const { facts, copied } = await copyData({ data, target, hasContents: contentsNote === undefined }, progress);
    progress.end();
    const databaseBytes = (await stat(join(target, dataNames.database))).size;
    deps.show(
      `Backed up ${data} to ${target}: a database of ${formatBytes(databaseBytes)}` +
        (contentsNote === undefined
          ? ` and ${formatCount(facts.contents.size, 'file')}, ${copied.count} of them new (${formatBytes(copied.bytes)})`
          : ''),
    );
    if (contentsNote !== undefined) deps.show(contentsNote);
    if (!existsSync(join(target, dataNames.secret))) deps.show('The data folder has no secret. Store PARLEY_SECRET separately');
  } finally {
    lock.release();
  }
}

/** Creates and locks the folder of a backup. Throws SettingError if it has other files. */
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
  await writeFile(join(target, markerName), marker, { mode: 0o600 });
  return lock;
}

const marker = `Backup of a data folder of Parley. Restore it with: parley restore --from FOLDER --data DIR
If this folder has no parley.db, the backup was interrupted. Run parley backup again.
`;

interface Copying {
  readonly data: string;
  readonly target: string;
  /** Whether the contents of files are in the data folder. */
  readonly hasContents: boolean;
}

interface CopiedData {
  readonly facts: DatabaseFacts;
  readonly copied: { readonly count: number; readonly bytes: number };
}

/** Copies the data. The previous backup in the target stays complete until the last step. */
async function copyData({ data, target, hasContents }: Copying, progress: Progress): Promise<CopiedData> {
  const [source, existing] = [join(data, dataNames.database), join(target, dataNames.database)];
  if (existsSync(existing) && readDatabase(existing).name !== readDatabase(source).name)
    throw new SettingError(`${target} has a backup of another database. Specify a new folder with --to`);
  const snapshot = `${existing}.next`;
  const [contents, contentsCopy] = [join(data, dataNames.contents), join(target, dataNames.contents)];
  const copied = { count: 0, bytes: 0 };
  const copyNewContents = async (): Promise<void> => {
    if (!hasContents) return;
    const { count, bytes } = await copyContents(contents, contentsCopy, progress);
    copied.count += count;
    copied.bytes += bytes;
  };
  for (let attempt = 1; ; attempt += 1) {
    // Copies before and after the database, because contents are deleted and added while the database is copied.
    progress.start('Copying the contents of files');
    await copyNewContents();
    progress.start('Copying the database');
    await copyDatabase(source, snapshot);
    await copyNewContents();
    const facts = readDatabase(snapshot);
    const missing = hasContents ? await findMissing(facts.contents, contentsCopy) : [];
    if (missing.length === 0) {
      await replaceBackup({ data, target, snapshot });
      if (hasContents) await deleteUnused(facts.contents, contentsCopy);
      return { facts, copied };
    }
    if (attempt === maxTries) throw toIncomplete(formatFiles(missing, facts.contents), contents);
    for (const name of missing) await rm(join(contentsCopy, name), { force: true });
  }
}

async function replaceBackup({ data, target, snapshot }: { data: string; target: string; snapshot: string }): Promise<void> {
  const secret = join(target, dataNames.secret);
  if ((await copyDurably(join(data, dataNames.secret), secret)) === undefined) await rm(secret, { force: true });
  await rename(snapshot, join(target, dataNames.database));
  await syncFolder(target);
}

function toIncomplete(files: string, contents: string): CopyError {
  return new CopyError(
    `contents of files that the database names are not in ${contents}: ${files}. Run the command again. ` +
      'If it names the same contents, they are lost: upload or delete these files. An earlier backup is unchanged',
  );
}
