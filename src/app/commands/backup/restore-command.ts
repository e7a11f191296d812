import { existsSync } from 'node:fs';
import { chmod, lstat, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { NewerDatabaseError, requireSupportedSchema } from '#stores/sql/migrate.ts';
import { lockDataFolder, restoreSteps } from '../../node/open-data-folder.ts';
import { readDataFolder, SettingError } from '../../settings.ts';
import type { RestoreFlags } from './backup-flags.ts';
import {
  CopyError,
  copyContents,
  copyDatabase,
  copyDurably,
  createIncompleteError,
  type DatabaseFacts,
  dataNames,
  deleteUnused,
  findMissing,
  readDatabase,
  requireIntactDatabase,
  syncFolder,
} from './data-copy.ts';
import { type CopyDeps, formatFiles, requireLocalStores, runCopy } from './run-copy.ts';

/** Data of a node that a restore replaces. A log of an old database next to a new database would damage the new one. */
const replacedNames = [
  ...['', '-wal', '-shm', '-journal'].map((suffix) => `${dataNames.database}${suffix}`),
  ...[dataNames.secret, `${dataNames.secret}.part`, dataNames.contents],
];
const { copying, movingOld, movingNew } = restoreSteps;
/** Folder of the old data in the folder of a step. */
const oldName = 'old';
/** File in the folder of a step with the path of the backup. */
const originName = 'restored-from';
const replacedPrefix = 'replaced-';

/** Runs `parley restore`. Returns the exit code. */
export function restoreCommand(flags: RestoreFlags, deps: CopyDeps): Promise<0 | 1 | 2> {
  return runCopy(deps, () => restore(flags, deps));
}

async function restore({ data: dataFlag, from, isReplaceAllowed }: RestoreFlags, deps: CopyDeps): Promise<void> {
  const data = resolve(readDataFolder(dataFlag, deps.environment));
  const backup = resolve(from);
  const contentsNote = requireLocalStores('restore', data, deps.environment);
  const lock = await lockDataFolder(data);
  try {
    const interrupted = await finishMoves(data, deps.epochMs());
    if (interrupted !== undefined) deps.show(`Completed the interrupted restore of ${interrupted.origin} to ${data}`);
    if (interrupted?.origin === backup) return;
    await requireRestorable(backup, data, isReplaceAllowed);
    deps.report('Checking the database of the backup');
    const facts = checkDatabase(join(backup, dataNames.database));
    await stageData({ backup, data, facts, hasContents: contentsNote === undefined }, deps);
    // The backup is complete in the data folder. From here on, each step is a rename, and a second run continues.
    await rename(join(data, copying), join(data, movingOld));
    await syncFolder(data);
    const { replaced } = (await finishMoves(data, deps.epochMs())) ?? {};
    const files = contentsNote === undefined ? ` and ${formatFiles(facts.contents.size)}` : '';
    deps.show(`Restored the database${files} from ${backup} to ${data}`);
    if (replaced !== undefined) deps.show(`The replaced data is in ${replaced}. Delete it when you no longer need it`);
    if (contentsNote !== undefined) deps.show(contentsNote);
    if (!existsSync(join(data, dataNames.secret)))
      deps.show('The backup has no secret. Start Parley with the PARLEY_SECRET of the node that was backed up');
  } finally {
    lock.release();
  }
}

/** Throws SettingError or `CopyError` if the backup cannot be put into the data folder. */
async function requireRestorable(backup: string, data: string, isReplaceAllowed: boolean): Promise<void> {
  if (backup === data) throw new SettingError(`${data} is the data folder. Specify the folder of the backup with --from`);
  if (!existsSync(join(backup, dataNames.database)))
    throw new SettingError(
      `${backup} has no ${dataNames.database}, or this user cannot read it. Specify the folder of a complete backup with --from`,
    );
  const ignoredNames = ['lock', 'lost+found', copying];
  const names = (await readdir(data)).filter((name) => !ignoredNames.includes(name) && !name.startsWith(replacedPrefix));
  if (names.length > 0 && !isReplaceAllowed)
    throw new SettingError(`${data} is not empty. Use --replace to move its data aside, or specify an empty folder with --data`);
  for (const name of names.filter((name) => replacedNames.includes(name))) await requireMovable(data, name);
}

/** Throws `CopyError` for a link, which may point to another disk, and for a mounted folder, which cannot be renamed. */
async function requireMovable(data: string, name: string): Promise<void> {
  const [folder, entry] = [await stat(data), await lstat(join(data, name))];
  if (!entry.isSymbolicLink() && (!entry.isDirectory() || entry.dev === folder.dev)) return;
  throw new CopyError(
    `${join(data, name)} is a link or on another disk, so it cannot be moved aside. Restore to a new folder, and copy ${name} from there`,
  );
}

/** Throws `CopyError` if the database is damaged or newer than this program. */
function checkDatabase(file: string): DatabaseFacts {
  requireIntactDatabase(file);
  const facts = readDatabase(file);
  try {
    requireSupportedSchema(facts.schemaVersion);
  } catch (error) {
    if (!(error instanceof NewerDatabaseError)) throw error;
    throw new CopyError(`${file} cannot be restored: ${error.message}`);
  }
  return facts;
}

interface Staging {
  readonly backup: string;
  readonly data: string;
  readonly facts: DatabaseFacts;
  /** Whether the contents of files are in the data folder. */
  readonly hasContents: boolean;
}

/** Copies the backup next to the old data. An interrupted copy is continued. */
async function stageData({ backup, data, facts, hasContents }: Staging, deps: CopyDeps): Promise<void> {
  const contents = join(backup, dataNames.contents);
  const missing = hasContents ? await findMissing(facts.contents, contents) : [];
  if (missing.length > 0) throw createIncompleteError(missing, facts.contents, contents, 'Restore another backup');
  const stage = join(data, copying);
  await mkdir(stage, { recursive: true, mode: 0o700 });
  await rm(join(stage, dataNames.secret), { force: true });
  await copyDurably(join(backup, dataNames.secret), join(stage, dataNames.secret));
  deps.report('Copying the database');
  await copyDatabase(join(backup, dataNames.database), join(stage, dataNames.database));
  const contentsCopy = join(stage, dataNames.contents);
  if (hasContents) {
    deps.report('Copying the contents of files');
    await copyContents(contents, contentsCopy, deps);
    await deleteUnused(facts.contents, contentsCopy);
    const incomplete = await findMissing(readDatabase(join(stage, dataNames.database)).contents, contentsCopy);
    if (incomplete.length > 0) throw createIncompleteError(incomplete, facts.contents, contents, 'Restore another backup');
  }
  await writeFile(join(stage, originName), backup, { mode: 0o600, flush: true });
  await syncFolder(stage);
}

interface CompletedRestore {
  /** Path of the backup. */
  readonly origin: string;
  /** Folder of the old data. Undefined if there was none. */
  readonly replaced: string | undefined;
}

/**
 * Moves the old data aside and the new data into place. A second run continues after a crash: it skips each rename whose source
 * no longer exists. Returns undefined if there is nothing to move.
 */
async function finishMoves(data: string, nowMs: number): Promise<CompletedRestore | undefined> {
  if (existsSync(join(data, movingOld))) await moveOldData(data);
  const step = join(data, movingNew);
  if (!existsSync(step)) return undefined;
  const origin = await readFile(join(step, originName), 'utf8');
  for (const name of Object.values(dataNames)) await moveIfPresent(join(step, name), join(data, name));
  await syncFolder(data);
  const old = join(step, oldName);
  const hasOld = existsSync(old) && (await readdir(old)).length > 0;
  const replaced = join(data, `${replacedPrefix}${new Date(nowMs).toISOString().replaceAll(/[:.]/g, '-')}`);
  if (hasOld) await rename(old, replaced);
  await restrictAccess(data);
  await syncFolder(data);
  // Renames the folder first, because a crash during its deletion would leave a step without its origin.
  await rename(step, join(data, copying));
  await rm(join(data, copying), { recursive: true });
  return { origin, replaced: hasOld ? replaced : undefined };
}

async function moveOldData(data: string): Promise<void> {
  const step = join(data, movingOld);
  const old = join(step, oldName);
  await mkdir(old, { recursive: true, mode: 0o700 });
  for (const name of replacedNames) await moveIfPresent(join(data, name), join(old, name));
  await syncFolder(old);
  await syncFolder(data);
  await rename(step, join(data, movingNew));
  await syncFolder(data);
}

async function moveIfPresent(from: string, to: string): Promise<void> {
  if (existsSync(from)) await rename(from, to);
}

/** Restricts a folder to its owner. Ignores a folder of another user, such as a Kubernetes volume that a group can access. */
async function restrictAccess(folder: string): Promise<void> {
  await chmod(folder, 0o700).catch((error) => {
    if (error.code !== 'EPERM') throw error;
  });
}
