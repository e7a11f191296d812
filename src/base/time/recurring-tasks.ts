/** Runs tasks at fixed intervals until it is closed. Runs of the same task never overlap. Reports an outage once. */
export class RecurringTasks {
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
