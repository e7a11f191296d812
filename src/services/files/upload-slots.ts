import { StoreError } from '#domain/store-error.ts';

/** Uploads under way, so many for each bucket: slow ones of one user leave the others what the node can take. */
export class UploadSlots {
  readonly #maxUploads: number;
  readonly #used = new Map<string, number>();

  constructor(maxUploads: number) {
    this.#maxUploads = maxUploads;
  }

  /** Gives what the work of one upload gives. Throws StoreFault if the bucket has no slot for it. */
  async run<Result>(bucket: string, work: () => Promise<Result>): Promise<Result> {
    const used = this.#used.get(bucket) ?? 0;
    if (used >= this.#maxUploads) throw new StoreError('too many files are being stored');
    this.#used.set(bucket, used + 1);
    try {
      return await work();
    } finally {
      this.#release(bucket);
    }
  }

  #release(bucket: string): void {
    const remaining = (this.#used.get(bucket) ?? 0) - 1;
    if (remaining > 0) this.#used.set(bucket, remaining);
    else this.#used.delete(bucket);
  }
}
