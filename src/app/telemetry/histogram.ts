import type { DataPoint, HistogramMetricData } from '@opentelemetry/sdk-metrics';

/** What OpenTelemetry keeps of one series of an explicit-bucket histogram; recording allocates nothing. */
export class Histogram {
  readonly attributes: Readonly<Record<string, string>>;
  readonly #boundaries: readonly number[];
  readonly #counts: Float64Array;
  #count = 0;
  #sum = 0;

  constructor(boundaries: readonly number[], attributes: Readonly<Record<string, string>>) {
    this.#boundaries = boundaries;
    this.#counts = new Float64Array(boundaries.length + 1);
    this.attributes = attributes;
  }

  get count(): number {
    return this.#count;
  }

  /** Counts a value in the first bucket whose upper boundary it does not exceed. Negative ones count as 0. */
  record(value: number): void {
    const boundaries = this.#boundaries;
    let bucket = 0;
    while (bucket < boundaries.length && value > (boundaries[bucket] as number)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#count += 1;
    if (value > 0) this.#sum += value;
  }

  toDataPoint(startTime: [number, number], endTime: [number, number]): HistogramPoint {
    const buckets = { boundaries: [...this.#boundaries], counts: [...this.#counts] };
    return { startTime, endTime, attributes: this.attributes, value: { buckets, sum: this.#sum, count: this.#count } };
  }
}

export type HistogramPoint = HistogramMetricData['dataPoints'][number];
export type NumberPoint = DataPoint<number>;
