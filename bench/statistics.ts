/** Median with the minimum and maximum of the same samples. */
export interface Spread {
  median: number;
  min: number;
  max: number;
  count: number;
}

/** Returns the spread of the finite samples, or `undefined` without any. */
export function toSpread(samples: readonly number[]): Spread | undefined {
  const sorted = samples.filter(Number.isFinite).toSorted((a, b) => a - b);
  const [min] = sorted;
  const max = sorted.at(-1);
  if (min === undefined || max === undefined) return undefined;
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? max;
  const lower = sorted[middle - 1] ?? upper;
  return { median: sorted.length % 2 ? upper : (lower + upper) / 2, min, max, count: sorted.length };
}
