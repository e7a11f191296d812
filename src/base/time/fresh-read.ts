/** Reads that never overlap. Each call to `run` gets a read that starts after the call, so that the read sees earlier writes. */
export class FreshRead {
  readonly #read: () => Promise<void>;
  readonly #announce: (() => Promise<void>) | undefined;
  #current: Promise<void> = Promise.resolve();
  /** The read that starts after the current one. The current read may have missed a write. */
  #next: Promise<void> | undefined;
  /** Whether the last read failed, or a write has started after the last read. */
  isBehind = false;

  /** `announce` is called after each write, for readers in other processes. It must not reject. */
  constructor(readData: () => Promise<void>, announce?: () => Promise<void>) {
    this.#read = readData;
    this.#announce = announce;
  }

  run(): Promise<void> {
    this.#next ??= this.#current
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        this.#current = this.#readOnce();
        return this.#current;
      });
    return this.#next;
  }

  /**
   * Runs a write. Then reads and announces, even if the write failed, because a failed write may still have taken effect. Rejects
   * only with the error of the write. If the read fails, `isBehind` is true.
   */
  async write<Value>(write: () => Promise<Value>): Promise<Value> {
    this.isBehind = true;
    try {
      return await write();
    } finally {
      await this.run().catch(() => undefined);
      await this.#announce?.();
    }
  }

  async #readOnce(): Promise<void> {
    this.isBehind = false;
    try {
      await this.#read();
    } catch (error) {
      this.isBehind = true;
      throw error;
    }
  }
}
