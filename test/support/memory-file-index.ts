import type {
  FileIndex,
  FileMove,
  FilePage,
  FileQuery,
  IndexedFile,
  IndexLocation,
  MoveOutcome,
  OverQuota,
  PutOutcome,
  Reservation,
} from '#domain/files/file-index.ts';
import { isMet, type WriteCondition } from '#domain/files/write-condition.ts';

/** In-memory file index of one test. */
export class MemoryFileIndex implements FileIndex {
  readonly #files = new Map<string, IndexedFile>();
  readonly #reserved = new Map<string, Reservation>();

  /** All files in undefined order. */
  get all(): readonly IndexedFile[] {
    return [...this.#files.values()];
  }

  async find(bucket: string, path: string): Promise<IndexedFile | undefined> {
    return this.#files.get(toKey(bucket, path));
  }

  async findAll(locations: readonly IndexLocation[]): Promise<readonly IndexedFile[]> {
    return locations.flatMap(({ bucket, path }) => this.#files.get(toKey(bucket, path)) ?? []);
  }

  /** Number of uploads in progress. */
  get reservations(): number {
    return this.#reserved.size;
  }

  async reserve(reservation: Reservation, maxBucketBytes: number): Promise<'reserved' | OverQuota> {
    const { bucket, path, blob, bytes } = reservation;
    const replaced = this.#files.get(toKey(bucket, path))?.contentLength ?? 0;
    const usedBytes = this.#usedBytes(bucket, blob);
    if (bytes > replaced && usedBytes + bytes - replaced > maxBucketBytes) return { outcome: 'over_quota', usedBytes };
    this.#reserved.set(blob, reservation);
    return 'reserved';
  }

  async release(blob: string): Promise<void> {
    this.#reserved.delete(blob);
  }

  async put(file: IndexedFile, condition: WriteCondition, maxBucketBytes: number): Promise<PutOutcome> {
    const key = toKey(file.bucket, file.path);
    const replaced = this.#files.get(key);
    if (!isMet(condition, replaced?.etag)) return { outcome: 'condition_failed' };
    const usedBytes = this.#usedBytes(file.bucket, file.blob);
    const addedBytes = file.contentLength - (replaced?.contentLength ?? 0);
    if (addedBytes > 0 && usedBytes + addedBytes > maxBucketBytes) return { outcome: 'over_quota', usedBytes };
    const stored = { ...file, createdAtMs: replaced?.createdAtMs ?? file.createdAtMs };
    this.#files.set(key, stored);
    this.#reserved.delete(file.blob);
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

  async move({ from, to, replaces, nowMs }: FileMove, maxBucketBytes: number): Promise<MoveOutcome> {
    const file = this.#files.get(toKey(from.bucket, from.path));
    if (file === undefined) return { outcome: 'absent' };
    const replaced = this.#files.get(toKey(to.bucket, to.path));
    if (replaced !== undefined && !replaces) return { outcome: 'occupied' };
    const usedBytes = this.#usedBytes(to.bucket, '');
    const addedBytes = file.contentLength - (replaced?.contentLength ?? 0);
    if (from.bucket !== to.bucket && addedBytes > 0 && usedBytes + addedBytes > maxBucketBytes)
      return { outcome: 'over_quota', usedBytes };
    this.#files.delete(toKey(from.bucket, from.path));
    this.#files.set(toKey(to.bucket, to.path), { ...file, ...to, updatedAtMs: nowMs });
    return { outcome: 'moved', replaced };
  }

  async list({ bucket, prefix, after, limit }: FileQuery): Promise<FilePage> {
    const matches = this.#in(bucket)
      .filter(({ path }) => path.startsWith(prefix) && (after === undefined || compare(path, after) > 0))
      .sort((left, right) => compare(left.path, right.path));
    const items = matches.slice(0, limit);
    return { items, next: matches.length > limit ? items.at(-1)?.path : undefined };
  }

  /** Returns the bytes of the files and of uploads in progress, except for one upload. */
  #usedBytes(bucket: string, exceptBlob: string): number {
    let bytes = 0;
    for (const file of this.#files.values()) if (file.bucket === bucket) bytes += file.contentLength;
    for (const upload of this.#reserved.values())
      if (upload.bucket === bucket && upload.blob !== exceptBlob) bytes += upload.bytes;
    return bytes;
  }

  #in(bucket: string): IndexedFile[] {
    return this.all.filter((file) => file.bucket === bucket);
  }
}

function toKey(bucket: string, path: string): string {
  return `${bucket}/${path}`;
}

/** Compares in code point order, as the databases do. The order of UTF-16 differs only if a text has surrogates. */
function compare(left: string, right: string): number {
  if (/[\ud800-\udfff]/.test(left + right)) return Buffer.compare(Buffer.from(left), Buffer.from(right));
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
