import type { BlobStore } from '#domain/files/blob-store.ts';
import type { SqlFileIndex } from '#stores/sql/file-index.ts';

/** Each asks the index once. */
const mostAtOnce = 500;
/** What the service names a content: an UUID. Whatever else lies there is somebody's. */
const ownName = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

/** A store that can say what has lain in it for a while. */
export interface SweptStore extends Pick<BlobStore, 'delete'> {
  /** Names of what was written before a moment, in milliseconds since the epoch. */
  writtenBefore(atMs: number): AsyncIterable<string>;
}

export interface Sweeping {
  readonly store: SweptStore;
  readonly index: Pick<SqlFileIndex, 'unused'>;
  readonly nowMs: number;
  /** Only what was written before: what is younger may be about to be used. */
  readonly beforeMs: number;
  /** Ends the work between two steps. */
  readonly signal: AbortSignal;
}

/** Deletes contents that no file uses: a crash between two steps leaves them behind. Gives how many there were. Throws StoreFault. */
export async function sweepContents({ store, index, nowMs, beforeMs, signal }: Sweeping): Promise<number> {
  let count = 0;
  let names: string[] = [];
  const sweep = async (): Promise<void> => {
    const unused = names.length === 0 ? [] : await index.unused(names, nowMs);
    for (const name of unused) {
      signal.throwIfAborted();
      await store.delete(name);
      count += 1;
    }
    names = [];
  };
  for await (const name of store.writtenBefore(beforeMs)) {
    signal.throwIfAborted();
    if (ownName.test(name)) names.push(name);
    if (names.length === mostAtOnce) await sweep();
  }
  await sweep();
  return count;
}
