const samples = 2_000;

/** Durations in milliseconds. */
export class Timings {
  readonly #durations: number[] = [];

  async time(work: () => Promise<unknown>): Promise<void> {
    const beganMs = performance.now();
    await work();
    this.add(performance.now() - beganMs);
  }

  add(ms: number): void {
    this.#durations.push(ms);
  }

  /** Returns the value at the quantile `share`. */
  getQuantile(share: number): number {
    return this.#durations.toSorted((left, right) => left - right)[Math.floor(this.#durations.length * share)] ?? Number.NaN;
  }
}

export function report(what: string, timings: Timings): void {
  console.info(
    `${what.padEnd(44)} p50 ${timings.getQuantile(0.5).toFixed(3)} ms  p99 ${timings.getQuantile(0.99).toFixed(3)} ms`,
  );
}

/** Repeats work with different numbers and prints how long it takes. */
export async function measure(what: string, work: (sample: number) => Promise<unknown>, times = samples): Promise<void> {
  const timings = new Timings();
  for (let sample = 0; sample < times; sample += 1) await timings.time(() => work(sample));
  report(what, timings);
}
