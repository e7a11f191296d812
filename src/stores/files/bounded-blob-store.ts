import type { Readable } from 'node:stream';
import { OwnerQuota } from '#base/isolation/fair-queue.ts';
import type { BlobStore, ByteRange } from '#domain/files/blob-store.ts';
import { StoreError } from '#domain/store-error.ts';

/** A blob store with a maximum number of concurrent writes. Further writes throw `StoreError`. */
export class BoundedBlobStore implements BlobStore {
  readonly #store: BlobStore;
  readonly #slots: OwnerQuota;

  constructor(store: BlobStore, maxWrites: number) {
    this.#store = store;
    this.#slots = new OwnerQuota(maxWrites, () => new StoreError('too many uploads are in progress'));
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
