import { join } from 'node:path';
import type { S3Address } from '#stores/files/s3-address.ts';
import { readFilesAddress, SettingError } from '../../settings.ts';

interface Location {
  /** Data folder. */
  readonly data: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Throws SettingError with the commands for PostgreSQL if the database is not in the data folder. Returns a message with the
 * command for the contents of files if they are in S3, and undefined if they are in the data folder.
 */
export function requireLocalStores(command: 'backup' | 'restore', { data, environment }: Location): string | undefined {
  const files = readFilesAddress(environment);
  if (environment.PARLEY_DATABASE_URL === undefined || environment.PARLEY_DATABASE_URL === '')
    return files && `The contents of files are in S3. Copy them with:\n  ${toSyncCommand(command, files)}`;
  const contents = files === undefined ? toFolderCommand(command, join(data, 'files')) : toSyncCommand(command, files);
  throw new SettingError(
    `PARLEY_DATABASE_URL is set, so the data is not in the data folder. Use these commands${where[command]}:\n` +
      `  ${databaseCommands[command]}\n  ${contents}\n` +
      'PARLEY_SECRET is not part of this backup. Store it separately. See docs/deploy.md, "Back up and restore"',
  );
}

const where = { backup: '', restore: ' while Parley is stopped, with an empty database' };

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

/** rsync gives a copy its name when it is complete. The slashes make it copy the folder's contents. */
function toFolderCommand(command: 'backup' | 'restore', folder: string): string {
  const folders = command === 'backup' ? `${folder}/ parley-files/` : `parley-files/ ${folder}/`;
  return `rsync --archive --ignore-existing --exclude='*.part' ${folders}`;
}
