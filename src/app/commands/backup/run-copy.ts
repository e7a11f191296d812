import { join } from 'node:path';
import type { S3Address } from '#stores/files/s3-address.ts';
import { readFilesAddress, SettingError } from '../../settings.ts';
import { CopyError } from './data-copy.ts';

/** Dependencies of `parley backup` and `parley restore`. */
export interface CopyDeps {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Writes a line to stderr, for progress and errors. */
  readonly report: (line: string) => void;
  /** Writes a line to stdout, for results. */
  readonly show: (line: string) => void;
  readonly epochMs: () => number;
}

/**
 * Runs `parley backup` or `parley restore`, and reports errors. Returns the exit code: 1 if the copy failed, 2 if the arguments, the
 * settings, or a folder are invalid.
 */
export async function runCopy({ report }: Pick<CopyDeps, 'report'>, copy: () => Promise<void>): Promise<0 | 1 | 2> {
  try {
    await copy();
    return 0;
  } catch (error) {
    const isKnown = error instanceof SettingError || error instanceof CopyError || isSystemError(error);
    if (!isKnown) throw error;
    report(`parley: ${error.message}`);
    return error instanceof SettingError ? 2 : 1;
  }
}

/** Returns whether the error is from the file system or from SQLite. */
function isSystemError(error: unknown): error is Error {
  return error instanceof Error && ('syscall' in error || 'errcode' in error);
}

/**
 * Throws SettingError with the commands for PostgreSQL if the database is not in the data folder. Returns a message with the
 * command for the contents of files if they are in S3, and undefined if they are in the data folder.
 */
export function requireLocalStores(
  command: 'backup' | 'restore',
  data: string,
  environment: CopyDeps['environment'],
): string | undefined {
  const files = readFilesAddress(environment);
  if (!environment.PARLEY_DATABASE_URL)
    return files && `The contents of files are in S3. Copy them with:\n  ${toSyncCommand(command, files)}`;
  const contents = files === undefined ? toFolderCommand(command, join(data, 'files')) : toSyncCommand(command, files);
  throw new SettingError(
    `PARLEY_DATABASE_URL is set, so the data is not in the data folder. Use these commands${commandConditions[command]}:\n` +
      `  ${databaseCommands[command]}\n  ${contents}\n` +
      'PARLEY_SECRET is not part of this backup. Store it separately. See docs/deploy.md, "Back up and restore"',
  );
}

const commandConditions = { backup: '', restore: ' while Parley is stopped, with an empty database' };

const databaseCommands = {
  backup: 'pg_dump --format=custom --file=parley.dump "$PARLEY_DATABASE_URL"',
  restore: 'pg_restore --no-owner --exit-on-error --dbname="$PARLEY_DATABASE_URL" parley.dump',
};

/** Returns the command without credentials, which the AWS CLI reads from the environment. */
function toSyncCommand(command: 'backup' | 'restore', { bucket, prefix, endpoint }: S3Address): string {
  const [source, copy] = [`s3://${bucket}/${prefix}`, `s3://${bucket}-copy/${prefix}`];
  const addresses = command === 'backup' ? `${source} ${copy}` : `${copy} ${source}`;
  return `aws s3 sync ${addresses}${endpoint === undefined ? '' : ` --endpoint-url ${endpoint}`}`;
}

/**
 * Returns the rsync command. An existing copy is complete, because rsync renames a file only after it has copied it. The slashes
 * select the contents of the folder instead of the folder.
 */
function toFolderCommand(command: 'backup' | 'restore', folder: string): string {
  const folders = command === 'backup' ? `${folder}/ parley-files/` : `parley-files/ ${folder}/`;
  return `rsync --archive --ignore-existing --exclude='*.part' ${folders}`;
}

/** Formats a number of files, such as "1 file" and "2 files". */
export function formatFiles(count: number): string {
  return `${count} file${count === 1 ? '' : 's'}`;
}
