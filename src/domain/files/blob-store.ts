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
