/** Work that is done again and again, never twice at the same time, until it is closed. An outage is told once. */
export class Recurring {
  readonly #reportError: (message: string, error: unknown) => void;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #busy = new Set<string>();
  /** What failed the last time. */
  readonly #failing = new Set<string>();

  constructor(reportError: (message: string, error: unknown) => void) {
    this.#reportError = reportError;
  }

  /** `what` tells that it failed. */
  every(ms: number, description: string, work: () => Promise<void>): void {
    this.#timers.push(setInterval(() => void this.#once(description, work), ms).unref());
  }

  /** The same, and for the first time now. */
  startAndEvery(ms: number, description: string, work: () => Promise<void>): void {
    this.every(ms, description, work);
    void this.#once(description, work);
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  async #once(description: string, work: () => Promise<void>): Promise<void> {
    if (this.#busy.has(description)) return;
    this.#busy.add(description);
    try {
      await work();
      this.#failing.delete(description);
    } catch (error) {
      if (!this.#failing.has(description)) this.#reportError(description, error);
      this.#failing.add(description);
    }
    this.#busy.delete(description);
  }
}

/**
 * Reads that never overlap. Each call gets a read that starts after it, so that the read sees the writes before the call. `isBehind`
 * is true after a write until a read succeeds.
 */
export class FreshRead {
  readonly #read: () => Promise<void>;
  #current: Promise<void> = Promise.resolve();
  /** The read that starts after the current one, which may have missed a write. */
  #next: Promise<void> | undefined;
  isBehind = false;

  constructor(read: () => Promise<void>) {
    this.#read = read;
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

  /** Writes. Resolves after a read, also if the write fails, since it may have happened. If the read fails, the next one is due. */
  async write<Value>(write: () => Promise<Value>): Promise<Value> {
    this.isBehind = true;
    try {
      return await write();
    } finally {
      await this.run().catch(() => undefined);
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
