import { StoreFault } from '#domain/store-fault.ts';

/** Uploads under way, so many for each bucket: slow ones of one user leave the others what the node can take. */
export class UploadSlots {
  readonly #maxUploads: number;
  readonly #taken = new Map<string, number>();

  constructor(maxUploads: number) {
    this.#maxUploads = maxUploads;
  }

  /** Gives what the work of one upload gives. Throws StoreFault if the bucket has no slot for it. */
  async within<Result>(bucket: string, work: () => Promise<Result>): Promise<Result> {
    const taken = this.#taken.get(bucket) ?? 0;
    if (taken >= this.#maxUploads) throw new StoreFault('too many files are being stored');
    this.#taken.set(bucket, taken + 1);
    try {
      return await work();
    } finally {
      this.#leave(bucket);
    }
  }

  #leave(bucket: string): void {
    const left = (this.#taken.get(bucket) ?? 0) - 1;
    if (left > 0) this.#taken.set(bucket, left);
    else this.#taken.delete(bucket);
  }
}
