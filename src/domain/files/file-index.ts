import type { WriteCondition } from './write-condition.ts';

/** Properties of a stored file. */
export interface FileInfo {
  /** Result of `toIndexBucket`: the bucket itself for files. For other resources, it contains their kind. */
  readonly bucket: string;
  /** Decoded path below the bucket, without a leading slash. */
  readonly path: string;
  readonly contentType: string;
  /** Size in bytes. */
  readonly contentLength: number;
  /** Changes with the content. Contains no quotes. */
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/**
 * A file in the index and the unique name of its content. Each content has a new name, so that a reader never receives parts of
 * two contents.
 */
export interface IndexedFile extends FileInfo {
  readonly blob: string;
}

/** One page of a list, ordered by the UTF-8 bytes of the paths. The files of a folder are therefore adjacent. */
export interface FilePage {
  readonly items: readonly IndexedFile[];
  /** Value of `after` for the next page. Undefined after the last page. */
  readonly next: string | undefined;
}

export interface FileQuery {
  readonly bucket: string;
  /** Prefix of the returned paths. Empty for all paths. */
  readonly prefix: string;
  /** Path after which the page starts. Undefined starts at the first path. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** Reserved quota in a bucket for an upload in progress. */
export interface Reservation extends Pick<IndexedFile, 'bucket' | 'path' | 'blob'> {
  readonly bytes: number;
  readonly nowMs: number;
  /** Time at which the reservation expires, regardless of the state of the node that requested it. */
  readonly untilMs: number;
}

/**
 * Port that stores the index of files, without their contents. Each operation is atomic, and durable after it resolves. Throws
 * `StoreError`.
 */
export interface FileIndex {
  find(bucket: string, path: string): Promise<IndexedFile | undefined>;
  /** Returns the existing files, unordered, with one query per bucket. */
  findAll(locations: readonly IndexLocation[]): Promise<readonly IndexedFile[]>;
  /**
   * Reserves quota if the bucket stays within `maxBucketBytes`. The check includes all other reservations, and excludes the
   * file to replace. Another request for the same blob raises or extends its reservation. `put` settles the reservation.
   */
  reserve(reservation: Reservation, maxBucketBytes: number): Promise<'reserved' | OverQuota>;
  /** Releases a reservation. Has no effect if it does not exist. */
  release(blob: string): Promise<void>;
  /**
   * Stores a file and replaces an existing one, whose `createdAtMs` it keeps. The condition must hold, and the bucket must stay
   * within `maxBucketBytes`. The check includes other reservations that are valid at `updatedAtMs`. Returns the replaced file,
   * whose blob can be deleted.
   */
  put(file: IndexedFile, condition: WriteCondition, maxBucketBytes: number): Promise<PutOutcome>;
  /** Returns the deleted file, whose blob can be deleted. */
  delete(bucket: string, path: string, condition: WriteCondition): Promise<IndexedFile | 'absent' | 'condition_failed'>;
  /**
   * Moves a file and keeps its content, ETag, and `createdAtMs`. Requires a file at `from` and, unless `replaces` is set, no
   * file at `to`. The bucket of `to` must stay within `maxBucketBytes`. Returns the replaced file, whose blob can be deleted.
   */
  move(move: FileMove, maxBucketBytes: number): Promise<MoveOutcome>;
  list(query: FileQuery): Promise<FilePage>;
}

export type IndexLocation = Pick<IndexedFile, 'bucket' | 'path'>;

export interface FileMove {
  readonly from: IndexLocation;
  readonly to: IndexLocation;
  readonly replaces: boolean;
  readonly nowMs: number;
}

export type MoveOutcome =
  | { readonly outcome: 'moved'; readonly replaced: IndexedFile | undefined }
  | { readonly outcome: 'absent' }
  | { readonly outcome: 'occupied' }
  | OverQuota;

export type PutOutcome =
  | { readonly outcome: 'stored'; readonly stored: IndexedFile; readonly replaced: IndexedFile | undefined }
  | { readonly outcome: 'condition_failed' }
  | OverQuota;

export interface OverQuota {
  readonly outcome: 'over_quota';
  /** Bytes used in the bucket, including other reservations. */
  readonly usedBytes: number;
}
