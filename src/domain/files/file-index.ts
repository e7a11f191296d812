import type { WriteCondition } from './write-condition.ts';

/** What is known of a stored file. */
export interface FileInfo {
  /** Where it stands in the index, as `shelfOf` gives it: of files it is the bucket. */
  readonly bucket: string;
  /** Below the bucket, decoded, without a leading slash. */
  readonly path: string;
  readonly contentType: string;
  /** Bytes. */
  readonly contentLength: number;
  /** Another for each content; without quotes. */
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A file of the index, and where its bytes lie: a name of its own for each content, so that a reader never sees half of another. */
export interface IndexedFile extends FileInfo {
  readonly blob: string;
}

/** One page of a listing, ordered by the bytes of the paths in UTF-8: what lies below one folder stands together. */
export interface FilePage {
  readonly items: readonly IndexedFile[];
  /** `after` of the next page; undefined after the last. */
  readonly next: string | undefined;
}

export interface FileQuery {
  readonly bucket: string;
  /** Only paths that begin with it; empty for all. */
  readonly prefix: string;
  /** Paths after this one; undefined: from the first. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** Room in a bucket for a content that is on its way. */
export interface Reservation extends Pick<IndexedFile, 'bucket' | 'path' | 'blob'> {
  readonly bytes: number;
  readonly nowMs: number;
  /** The room is free again then, whatever became of the node that asked for it. */
  readonly untilMs: number;
}

/** Port: which files there are. Bytes lie elsewhere. Each step is atomic and durable once it resolves. Throws StoreFault. */
export interface FileIndex {
  find(bucket: string, path: string): Promise<IndexedFile | undefined>;
  /** Those of the places that exist, in no order, in one query for each bucket. */
  findAll(locations: readonly IndexLocation[]): Promise<readonly IndexedFile[]>;
  /**
   * Sets room aside if the bucket stays within `maxBucketBytes`, all other reservations and the file that is to be
   * replaced considered; asked again for the same blob it is more, or longer. `put` settles it.
   */
  reserve(reservation: Reservation, maxBucketBytes: number): Promise<'reserved' | OverQuota>;
  /** Gives room back; no fault if none is set aside. */
  release(blob: string): Promise<void>;
  /**
   * Puts a file in the place of what is there, keeping its `createdAtMs`, if the condition holds and the bucket
   * stays within `maxBucketBytes`, reservations of others at its `updatedAtMs` considered. Gives what was replaced, whose
   * blob may go.
   */
  put(file: IndexedFile, condition: WriteCondition, maxBucketBytes: number): Promise<PutOutcome>;
  /** Gives what was taken out, whose blob may go. */
  delete(bucket: string, path: string, condition: WriteCondition): Promise<IndexedFile | 'absent' | 'condition_failed'>;
  /**
   * Gives a file another place with its content, its ETag and its `createdAtMs`, if something is at `from`, nothing at `to` unless it is to be
   * replaced, and the bucket of `to` stays within `maxBucketBytes`. Gives what was replaced, whose blob may go.
   */
  move(move: FileMove, maxBucketBytes: number): Promise<MoveOutcome>;
  list(query: FileQuery): Promise<FilePage>;
}

/** One place of the index. */
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
  /** Of the bucket, with what is set aside for others. */
  readonly usedBytes: number;
}
