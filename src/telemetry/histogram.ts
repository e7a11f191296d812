export type Labels = Readonly<Record<string, string>>;

/** One series of an explicit-bucket histogram as OpenTelemetry defines it; recording allocates nothing. */
export class Histogram {
  readonly attributes: Labels;
  readonly boundaries: readonly number[];
  /** One more than there are boundaries. */
  readonly counts: Float64Array;
  count = 0;
  sum = 0;

  constructor(boundaries: readonly number[], attributes: Labels) {
    this.boundaries = boundaries;
    this.counts = new Float64Array(boundaries.length + 1);
    this.attributes = attributes;
  }

  /** Counts a value in the first bucket whose upper end it does not exceed; a negative one, as clocks may give, is 0. */
  record(value: number): void {
    const { boundaries, counts } = this;
    let bucket = 0;
    while (bucket < boundaries.length && value > (boundaries[bucket] as number)) bucket += 1;
    counts[bucket] = (counts[bucket] as number) + 1;
    this.count += 1;
    if (value > 0) this.sum += value;
  }
}
