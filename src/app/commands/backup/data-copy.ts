import { existsSync } from 'node:fs';
import { chmod, constants, copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { getReason } from '../../settings.ts';

/** Names of Parley's data in a data folder and in a backup. */
export const dataNames = { database: 'parley.db', secret: 'secret', contents: 'files' } as const;

const partSuffix = '.part';
const reportIntervalMs = 10_000;

/** The backup or the restore is not possible. The message is for the user. */
export class CopyError extends Error {
  override readonly name = 'CopyError';
}

/**
 * Copies contents that the target does not have, and returns their number. Contents never change under their name, and a copy gets
 * its name only when it is complete and on disk. Skips contents that are deleted in the meantime.
 */
export async function copyContents(
  from: string,
  to: string,
  { report, epochMs }: { readonly report: (line: string) => void; readonly epochMs: () => number },
): Promise<number> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  const existing = new Set(await readdir(to));
  for (const name of existing) if (name.endsWith(partSuffix)) await rm(join(to, name));
  const sourceNames = existsSync(from) ? await readdir(from) : [];
  const names = sourceNames.filter((name) => !name.endsWith(partSuffix) && !existing.has(name));
  let count = 0;
  let reportedAtMs = epochMs();
  for (const [index, name] of names.entries()) {
    if (epochMs() - reportedAtMs >= reportIntervalMs) {
      report(`Copied the contents of ${index} of ${names.length} files`);
      reportedAtMs = epochMs();
    }
    if (await copyDurably(join(from, name), join(to, name))) count += 1;
  }
  await syncFolder(to);
  return count;
}

/** Copies a file. The copy gets its name only when it is complete and on disk. Returns whether the source exists. */
export async function copyDurably(from: string, to: string): Promise<boolean> {
  const part = `${to}${partSuffix}`;
  try {
    await copyFile(from, part, constants.COPYFILE_FICLONE);
  } catch (error) {
    if (isAbsent(error) && !existsSync(from)) return false;
    throw error;
  }
  await chmod(part, 0o600);
  await syncFile(part);
  await rename(part, to);
  return true;
}

/** Copies a consistent snapshot of a database, even during writes. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  await rm(to, { force: true });
  await (await open(to, 'wx', 0o600)).close();
  const database = new DatabaseSync(from, { timeout: 30_000 });
  try {
    database.prepare('vacuum into ?').run(to);
  } finally {
    database.close();
  }
  await syncFile(to);
}

/** Facts about a database of Parley. */
export interface DatabaseFacts {
  readonly schemaVersion: number;
  /** Random name that the database keeps in its copies. */
  readonly name: string;
  /** Contents of files by their name. */
  readonly contents: ReadonlyMap<string, ContentFacts>;
}

interface ContentFacts {
  readonly bytes: number;
  /** Reference of a file with the contents, such as `files/BUCKET/PATH`. */
  readonly file: string;
}

/** Reads facts about a database. Throws `CopyError` if it is not a database of Parley. */
export function readDatabase(file: string): DatabaseFacts {
  return withDatabase(file, (database) => {
    try {
      const version = database.prepare('select max(version) as version from parley_migrations').get();
      const name = database.prepare('select name from database_name').get();
      const rows = database.prepare('select bucket, path, blob, content_length from files').all();
      const contents = new Map(
        rows.map(({ bucket, path, blob, content_length: bytes }) => [
          String(blob),
          { bytes: Number(bytes), file: `files/${bucket}/${path}` },
        ]),
      );
      return { schemaVersion: Number(version?.version), name: String(name?.name), contents };
    } catch (error) {
      throw new CopyError(`${file} is not a database of Parley: ${getReason(error)}`, { cause: error });
    }
  });
}

/** Checks every page and index of a database. Throws `CopyError` with up to three errors. */
export function requireIntactDatabase(file: string): void {
  withDatabase(file, (database) => {
    const errors = listIntegrityErrors(database);
    if (errors.length > 0)
      throw new CopyError(`${file} is damaged: ${errors.join(' ').replaceAll('\n', ' ')}. Restore another backup`);
  });
}

function listIntegrityErrors(database: DatabaseSync): readonly string[] {
  try {
    const rows = database.prepare('pragma integrity_check(3)').all();
    return rows.map(({ integrity_check }) => String(integrity_check)).filter((text) => text !== 'ok');
  } catch (error) {
    return [getReason(error)];
  }
}

function withDatabase<Value>(file: string, run: (database: DatabaseSync) => Value): Value {
  const database = new DatabaseSync(file, { timeout: 30_000 });
  try {
    return run(database);
  } finally {
    database.close();
  }
}

/** Returns the names of contents that a folder does not have in their full size. */
export async function findMissing(contents: DatabaseFacts['contents'], folder: string): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const [name, { bytes }] of contents) {
    const stats = await stat(join(folder, name)).catch((error) => {
      if (!isAbsent(error)) throw error;
    });
    if (stats?.size !== bytes) missing.push(name);
  }
  return missing;
}

/** Returns an error that names up to five files without contents. */
export function createIncompleteError(
  missing: readonly string[],
  contents: DatabaseFacts['contents'],
  folder: string,
  suggestion: string,
): CopyError {
  const files = missing.slice(0, 5).map((name) => `${contents.get(name)?.file} (${name})`);
  const list = `${files.join(', ')}${missing.length > files.length ? ', …' : ''}`;
  return new CopyError(`the contents of some stored files are missing in ${folder}: ${list}. ${suggestion}`);
}

/** Deletes contents that the database does not name. */
export async function deleteUnused(contents: DatabaseFacts['contents'], folder: string): Promise<void> {
  for (const name of await readdir(folder)) if (!contents.has(name)) await rm(join(folder, name));
}

/** Makes renames in a folder durable. Windows does this automatically, and cannot open folders. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform !== 'win32') await syncFile(folder, 'r');
}

async function syncFile(file: string, flags = 'r+'): Promise<void> {
  const handle = await open(file, flags);
  await handle.sync().finally(() => handle.close());
}

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
