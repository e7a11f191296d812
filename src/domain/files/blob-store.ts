import type { Readable } from 'node:stream';

/** Zero-based byte range. Both ends are inclusive. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** Port that stores the contents of files. Each content is written once, under a unique name. Throws `StoreError`. */
export interface BlobStore {
  /**
   * Writes a stream of bytes. The content is complete and durable after the call resolves, and not readable before. If the
   * store or the stream fails, no data remains. Rethrows errors of the stream unchanged.
   */
  write(name: string, bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void>;
  /**
   * Returns a stream, which the reader must consume or destroy, or undefined if the name does not exist. A range must be within
   * the content.
   */
  read(name: string, range: ByteRange | undefined): Promise<Readable | undefined>;
  /** Has no effect if the name does not exist. Readers in progress still receive the complete content. */
  delete(name: string): Promise<void>;
}

/** A database without a recorded location of its file contents. */
export interface UnlocatedDatabase {
  /** Name of the database. */
  readonly database: string;
  /** Names of up to 10 blobs of its files, to recognize their location. Empty if it has no files. */
  readonly blobs: readonly string[];
}

/**
 * Port that names the location of a database's file contents. The location stores the name in a claim, which is compared with the
 * name in the database. Throws `StoreError`.
 */
export interface ContentsLocation {
  /**
   * Returns the name of the location, which is recorded once for all nodes. If no name is recorded, records the name that
   * `choose` returns while other nodes wait. Returns undefined if `choose` returns undefined.
   */
  resolveName(choose: (database: UnlocatedDatabase) => Promise<string | undefined>): Promise<string | undefined>;
}
