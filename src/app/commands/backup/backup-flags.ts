import { helpOptions, type Parsed } from '../command-options.ts';

/** Flags of `parley backup`. */
export interface BackupFlags {
  /** Undefined if the flag is absent, so that the environment or the default applies. */
  readonly data: string | undefined;
  readonly to: string;
}

/** Flags of `parley restore`. */
export interface RestoreFlags {
  /** Undefined if the flag is absent, so that the environment or the default applies. */
  readonly data: string | undefined;
  readonly from: string;
  /** Whether data in the data folder is moved aside. */
  readonly isReplaceAllowed: boolean;
}

/** Output of `parley backup --help`. */
export const backupHelp = `parley backup: copies the data of a node with SQLite, even while it runs

Usage
  parley backup --to FOLDER [--data DIR]

Copies a consistent snapshot of the database, the contents of files, and the secret. A second run into the same folder
copies the database and only the new contents. If a run is interrupted, the folder still has the previous backup. Run
the command again to complete it. Protect the folder like the data folder, because the secret decrypts the database.

Options, with defaults in parentheses
  --to FOLDER                folder for the backup: a new or empty folder, or a backup of the same node. Required
  --data DIR                 data folder                                       (PARLEY_DATA or ./.parley)

Exit codes: 0 on success, 1 if the backup is not complete, 2 if the arguments, the settings, or a folder are invalid.
Progress goes to stderr. With PARLEY_DATABASE_URL, the command prints the commands for PostgreSQL and S3 instead.
See docs/deploy.md.
`;

/** Output of `parley restore --help`. */
export const restoreHelp = `parley restore: restores a backup from parley backup into a data folder

Usage
  parley restore --from FOLDER [--data DIR] [--replace]

Stop Parley first. The command checks the backup before it changes the data folder: the database is intact, this version
supports it, and all contents of files exist. If a run is interrupted, no data is lost. Run the command again to complete
it. Run it as the operating system user that runs Parley, or make that user the owner of the data folder afterwards.

Options, with defaults in parentheses
  --from FOLDER              folder of the backup. Required
  --data DIR                 data folder                                       (PARLEY_DATA or ./.parley)
  --replace                  moves existing data to the folder replaced-TIME in the data folder

Exit codes: 0 on success, 1 if a check or the restore fails, 2 if the arguments, the settings, or a folder are invalid.
Progress goes to stderr. With PARLEY_DATABASE_URL, the command prints the commands for PostgreSQL and S3 instead.
See docs/deploy.md.
`;

const commonOptions = { data: { type: 'string' }, ...helpOptions } as const;

/** Options of `parley backup` for `parseArgs`. */
export const backupOptions = { to: { type: 'string' }, ...commonOptions } as const;
/** Options of `parley restore` for `parseArgs`. */
export const restoreOptions = { from: { type: 'string' }, replace: { type: 'boolean' }, ...commonOptions } as const;

/** Returns the flags of `backup`. Throws an error for invalid arguments. */
export function readBackupFlags({ values, positionals }: Parsed<typeof backupOptions>): BackupFlags {
  if (positionals.length > 0) throw new Error(`"backup" does not accept "${positionals[0]}". Use --data DIR and --to FOLDER`);
  const { data, to } = values;
  if (to === undefined) throw new Error('"backup" requires --to FOLDER, the folder for the backup');
  return { data, to };
}

/** Returns the flags of `restore`. Throws an error for invalid arguments. */
export function readRestoreFlags({ values, positionals }: Parsed<typeof restoreOptions>): RestoreFlags {
  if (positionals.length > 0) throw new Error(`"restore" does not accept "${positionals[0]}". Use --from FOLDER and --data DIR`);
  const { data, from, replace: isReplaceAllowed = false } = values;
  if (from === undefined) throw new Error('"restore" requires --from FOLDER, the folder of the backup');
  return { data, from, isReplaceAllowed };
}
