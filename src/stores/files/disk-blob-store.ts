import { type FileHandle, mkdir, open, opendir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { dayMs } from '#base/time/clock.ts';
import type { BlobStore, ByteRange } from '#domain/files/blob-store.ts';
import { throwStoreError } from '#domain/store-error.ts';

const partSuffix = '.part';

/** Stores contents as files in one folder. The names become file names, so they must not contain path separators. */
export class DiskBlobStore implements BlobStore {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Creates the folder and deletes unfinished files. In a shared folder, deletes only those that are older than a day. */
  static async open(folder: string, { isShared = false } = {}): Promise<DiskBlobStore> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const unfinishedNames = (await readdir(folder)).filter((name) => name.endsWith(partSuffix));
    const beforeMs = isShared ? Date.now() - dayMs : Number.POSITIVE_INFINITY;
    await Promise.all(unfinishedNames.map((name) => removeIfOlder(join(folder, name), beforeMs)));
    return new DiskBlobStore(folder);
  }

  async write(name: string, bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    const path = join(this.#folder, name);
    const part = path + partSuffix;
    const handle = await withStoreError(open(part, 'wx', 0o600));
    try {
      for await (const piece of bytes) await withStoreError(handle.writeFile(piece));
      await withStoreError(handle.sync());
      await withStoreError(handle.close());
      await withStoreError(rename(part, path));
      await withStoreError(this.#syncFolder());
    } catch (error) {
      await closeAndRemove(handle, [part, path]);
      throw error;
    }
  }

  async read(name: string, range: ByteRange | undefined): Promise<Readable | undefined> {
    const handle = await withStoreError(open(join(this.#folder, name), 'r').catch(ignoreMissing));
    return handle?.createReadStream(range && { start: range.first, end: range.last });
  }

  async delete(name: string): Promise<void> {
    await withStoreError(rm(join(this.#folder, name), { force: true }));
  }

  /** Yields the names of contents that were written before `atMs`, in milliseconds since the epoch. */
  async *listWrittenBefore(atMs: number): AsyncIterable<string> {
    for await (const { name } of await withStoreError(opendir(this.#folder))) {
      if (name.endsWith(partSuffix)) continue;
      const stats = await withStoreError(stat(join(this.#folder, name)).catch(ignoreMissing));
      if (stats !== undefined && stats.mtimeMs < atMs) yield name;
    }
  }

  /** A new file name is durable only after its folder is synced. Windows does this automatically and cannot open folders. */
  async #syncFolder(): Promise<void> {
    if (process.platform === 'win32') return;
    const folder = await open(this.#folder, 'r');
    await folder.sync().finally(() => folder.close());
  }
}

async function removeIfOlder(path: string, beforeMs: number): Promise<void> {
  const stats = await stat(path).catch(ignoreMissing);
  if (stats !== undefined && stats.mtimeMs < beforeMs) await rm(path, { force: true });
}

async function closeAndRemove(handle: FileHandle, paths: readonly string[]): Promise<void> {
  await handle.close().catch(() => undefined);
  for (const path of paths) await rm(path, { force: true }).catch(() => undefined);
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

function withStoreError<Value>(work: Promise<Value>): Promise<Value> {
  return work.catch(throwStoreError('the folder of files cannot be used'));
}
