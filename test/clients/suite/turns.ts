/** Maximum number of concurrent jobs, one for each core of a small machine. */
const maxConcurrentJobs = 2;

/** Queues jobs in their order and records the duration of each. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #free = maxConcurrentJobs;

  /** Runs the job when a slot is free, and returns its result. */
  async take<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const startMs = Date.now();
    try {
      return await work();
    } finally {
      process.stderr.write(`${name}: ${Math.round((Date.now() - startMs) / 1000)} s\n`);
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
