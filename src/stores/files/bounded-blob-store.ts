import type { Readable } from 'node:stream';
import type { BlobStore, ByteRange } from '#domain/files/blob-store.ts';
import { UploadSlots } from '#services/files/upload-slots.ts';

/** A blob store with a maximum number of concurrent writes. Further writes throw `StoreError`. */
export class BoundedBlobStore implements BlobStore {
  readonly #store: BlobStore;
  readonly #slots: UploadSlots;

  constructor(store: BlobStore, maxWrites: number) {
    this.#store = store;
    this.#slots = new UploadSlots(maxWrites);
  }

  write(name: string, bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    return this.#slots.run('all', () => this.#store.write(name, bytes));
  }

  read(name: string, range: ByteRange | undefined): Promise<Readable | undefined> {
    return this.#store.read(name, range);
  }

  delete(name: string): Promise<void> {
    return this.#store.delete(name);
  }
}
