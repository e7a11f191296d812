/** Runs tasks at fixed intervals until it is closed. Runs of the same task never overlap. Reports an outage once. */
export class Recurring {
  readonly #reportError: (message: string, error: unknown) => void;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #busy = new Set<string>();
  /** Descriptions of the tasks whose last run failed. */
  readonly #failing = new Set<string>();

  constructor(reportError: (message: string, error: unknown) => void) {
    this.#reportError = reportError;
  }

  /** Runs `work` every `ms` milliseconds. `description` identifies the task and is the message if it fails. */
  every(ms: number, description: string, work: () => Promise<void>): void {
    this.#timers.push(setInterval(() => void this.#once(description, work), ms).unref());
  }

  /** Like `every`, but also runs the task immediately. */
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
 * Reads that never overlap. Each call to `run` gets a read that starts after the call, so that the read sees earlier writes.
 * `isBehind` is true after a write until a read succeeds.
 */
export class FreshRead {
  readonly #read: () => Promise<void>;
  readonly #announce: (() => Promise<void>) | undefined;
  #current: Promise<void> = Promise.resolve();
  /** The read that starts after the current one. The current read may have missed a write. */
  #next: Promise<void> | undefined;
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
   * Runs a write. Resolves after a read, even if the write fails, because a failed write may still have taken effect. If the read
   * fails, `isBehind` stays true.
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
