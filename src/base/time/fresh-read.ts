/** Reads that never overlap. Each call gets a read that starts after it, so that the read sees what was written before the call. */
export class FreshRead {
  readonly #read: () => Promise<void>;
  #current: Promise<void> = Promise.resolve();
  /** The read that starts after the current one, which may have missed a write. */
  #next: Promise<void> | undefined;

  constructor(read: () => Promise<void>) {
    this.#read = read;
  }

  run(): Promise<void> {
    this.#next ??= this.#current
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        this.#current = this.#read();
        return this.#current;
      });
    return this.#next;
  }
}
