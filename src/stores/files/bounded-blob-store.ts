import type { Readable } from 'node:stream';
import type { BlobStore, ByteRange } from '#domain/blob-store.ts';
import { tooManyUploads } from '#domain/upload-slots.ts';

/** A store of contents that takes so many at once; further ones are a StoreFault. */
export class BoundedBlobStore implements BlobStore {
  readonly #store: BlobStore;
  readonly #maxWrites: number;
  #writes = 0;

  constructor(store: BlobStore, maxWrites: number) {
    this.#store = store;
    this.#maxWrites = maxWrites;
  }

  async write(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    if (this.#writes >= this.#maxWrites) throw tooManyUploads();
    this.#writes += 1;
    try {
      await this.#store.write(name, bytes);
    } finally {
      this.#writes -= 1;
    }
  }

  read(name: string, range: ByteRange | undefined): Promise<Readable | undefined> {
    return this.#store.read(name, range);
  }

  delete(name: string): Promise<void> {
    return this.#store.delete(name);
  }
}
