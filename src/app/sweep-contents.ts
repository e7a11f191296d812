import type { DiskBlobStore } from '#stores/files/disk-blob-store.ts';
import type { SqlFileIndex } from '#stores/sql/file-index.ts';

/** Each asks the index once. */
const mostAtOnce = 500;
/** What the service names a content: an UUID. Whatever else lies there is somebody's. */
const ownName = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

export interface Sweeping {
  readonly disk: DiskBlobStore;
  readonly index: SqlFileIndex;
  /** Only what was written before, in milliseconds since the epoch: what is younger may be about to be used. */
  readonly beforeMs: number;
}

/** Deletes contents that no file uses: a crash between two steps leaves them behind. Gives how many there were. Throws StoreFault. */
export async function sweepContents({ disk, index, beforeMs }: Sweeping): Promise<number> {
  let count = 0;
  let names: string[] = [];
  const sweep = async (): Promise<void> => {
    const unused = names.length === 0 ? [] : await index.unused(names);
    for (const name of unused) await disk.delete(name);
    count += unused.length;
    names = [];
  };
  for await (const name of disk.writtenBefore(beforeMs)) {
    if (ownName.test(name)) names.push(name);
    if (names.length === mostAtOnce) await sweep();
  }
  await sweep();
  return count;
}
