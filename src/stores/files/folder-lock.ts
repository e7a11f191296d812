import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** SQLITE_BUSY. */
const busy = 5;

/** Holds a folder for one process. */
export interface FolderLock {
  release(): void;
}

/**
 * Takes a folder for this process, by the lock of an empty database in it: the system lets go of it however the process ends.
 * Gives undefined where another process has it. Throws what the system says where no lock can be had there.
 */
export function lockFolder(folder: string): FolderLock | undefined {
  const database = new DatabaseSync(join(folder, 'lock'), { timeout: 0 });
  try {
    // With no file of a journal beside it: nothing is ever written.
    database.exec('pragma journal_mode = memory; begin exclusive');
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) return undefined;
    throw error;
  }
}
