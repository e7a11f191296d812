const samples = 2_000;

/** Milliseconds that something took, time after time. */
export class Timings {
  readonly #took: number[] = [];

  async time(work: () => Promise<unknown>): Promise<void> {
    const beganMs = performance.now();
    await work();
    this.note(performance.now() - beganMs);
  }

  note(ms: number): void {
    this.#took.push(ms);
  }

  /** The value that such a share of them stays within. */
  at(share: number): number {
    return this.#took.toSorted((left, right) => left - right)[Math.floor(this.#took.length * share)] ?? Number.NaN;
  }
}

export function report(what: string, timings: Timings): void {
  console.info(`${what.padEnd(44)} p50 ${timings.at(0.5).toFixed(3)} ms  p99 ${timings.at(0.99).toFixed(3)} ms`);
}

/** Does something over and over, each time with another number, and says how long it took. */
export async function measure(what: string, work: (sample: number) => Promise<unknown>, times = samples): Promise<void> {
  const timings = new Timings();
  for (let sample = 0; sample < times; sample += 1) await timings.time(() => work(sample));
  report(what, timings);
}
