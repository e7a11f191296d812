import { StoreError } from '#domain/store-error.ts';

/** Limits concurrent uploads per bucket, so that slow uploads of one user do not use the capacity of the node. */
export class UploadSlots {
  readonly #maxUploads: number;
  readonly #used = new Map<string, number>();

  constructor(maxUploads: number) {
    this.#maxUploads = maxUploads;
  }

  /** Returns the result of `work`. Throws `StoreError` if all slots of the bucket are in use. */
  async run<Result>(bucket: string, work: () => Promise<Result>): Promise<Result> {
    const used = this.#used.get(bucket) ?? 0;
    if (used >= this.#maxUploads) throw new StoreError('too many uploads are in progress');
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
