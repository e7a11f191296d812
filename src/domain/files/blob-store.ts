import type { Readable } from 'node:stream';

/** Bytes of a content, counted from 0, both ends included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** Port: the contents of stored files, each written once under a name of its own. Throws StoreFault. */
export interface BlobStore {
  /**
   * Lays a stream of bytes down; whole and durable once it resolves, not to be seen before. Where the store or the
   * stream fails, nothing is left; what the stream throws comes through as it is.
   */
  write(name: string, bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void>;
  /** To be read to its end or destroyed; undefined if there is nothing of this name. A range must lie within the content. */
  read(name: string, range: ByteRange | undefined): Promise<Readable | undefined>;
  /** No fault if there is nothing of this name. What is being read already is read to its end. */
  delete(name: string): Promise<void>;
}
