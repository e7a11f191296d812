import type { FileIndex, FilePage, FileQuery, IndexedFile, PutOutcome } from '#domain/file-index.ts';
import { isMet, type WriteCondition } from '#domain/write-condition.ts';

/** An index that is gone with the test. */
export class MemoryFileIndex implements FileIndex {
  readonly #files = new Map<string, IndexedFile>();

  /** Every file there is, in no order. */
  get all(): readonly IndexedFile[] {
    return [...this.#files.values()];
  }

  async find(bucket: string, path: string): Promise<IndexedFile | undefined> {
    return this.#files.get(toKey(bucket, path));
  }

  async put(file: IndexedFile, condition: WriteCondition, maxBucketBytes: number): Promise<PutOutcome> {
    const key = toKey(file.bucket, file.path);
    const replaced = this.#files.get(key);
    if (!isMet(condition, replaced?.etag)) return { outcome: 'condition_failed' };
    const usedBytes = this.#in(file.bucket).reduce((sum, { contentLength }) => sum + contentLength, 0);
    if (usedBytes - (replaced?.contentLength ?? 0) + file.contentLength > maxBucketBytes)
      return { outcome: 'over_quota', usedBytes };
    const stored = { ...file, createdAtMs: replaced?.createdAtMs ?? file.createdAtMs };
    this.#files.set(key, stored);
    return { outcome: 'stored', stored, replaced };
  }

  async delete(bucket: string, path: string, condition: WriteCondition): Promise<IndexedFile | 'absent' | 'condition_failed'> {
    const key = toKey(bucket, path);
    const file = this.#files.get(key);
    if (file === undefined) return 'absent';
    if (!isMet(condition, file.etag)) return 'condition_failed';
    this.#files.delete(key);
    return file;
  }

  async list({ bucket, prefix, after, limit }: FileQuery): Promise<FilePage> {
    const rest = this.#in(bucket)
      .filter(({ path }) => path.startsWith(prefix) && (after === undefined || compare(path, after) > 0))
      .sort((one, other) => compare(one.path, other.path));
    const items = rest.slice(0, limit);
    return { items, next: rest.length > limit ? items.at(-1)?.path : undefined };
  }

  #in(bucket: string): IndexedFile[] {
    return this.all.filter((file) => file.bucket === bucket);
  }
}

function toKey(bucket: string, path: string): string {
  return `${bucket}/${path}`;
}

function compare(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
