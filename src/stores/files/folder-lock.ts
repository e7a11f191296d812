import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const sqliteBusy = 5;

/** Exclusive lock on a folder. */
export interface FolderLock {
  release(): void;
}

/**
 * Locks a folder for this process with the lock of an empty SQLite database in it. The operating system releases the lock however
 * the process ends. Returns undefined if another process holds the lock. Rethrows the system's error if the folder does not
 * support locks.
 */
export function lockFolder(folder: string): FolderLock | undefined {
  const database = new DatabaseSync(join(folder, 'lock'), { timeout: 0 });
  try {
    // With an in-memory journal, SQLite creates no journal file. Nothing is ever written.
    database.exec('pragma journal_mode = memory; begin exclusive');
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy) return undefined;
    throw error;
  }
}
