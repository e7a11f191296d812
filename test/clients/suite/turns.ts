/** Lets so much run at once, one for each core of a small machine. */
const atOnce = 2;

/** Has work wait for its turn, in the order in which it came, and tells how long each took. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #free = atOnce;

  /** Runs it once it is its turn; gives what it gave. */
  async take<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const beganMs = Date.now();
    try {
      return await work();
    } finally {
      process.stderr.write(`${name}: ${Math.round((Date.now() - beganMs) / 1000)} s\n`);
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
