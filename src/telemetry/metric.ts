import type { Instrument } from './instruments.ts';
import type { Histogram, Reading } from './series.ts';

/** A metric at the time of collection: a histogram, a counter, or a gauge. */
export type Metric =
  | { readonly kind: 'histogram'; readonly instrument: Instrument; readonly series: readonly Histogram[] }
  | { readonly kind: 'counter' | 'gauge'; readonly instrument: Instrument; readonly readings: readonly Reading[] };

/** Returns the series that have recorded a value. */
export function toHistogram(instrument: Instrument, series: Iterable<Histogram>): Metric {
  return { kind: 'histogram', instrument, series: [...series].filter(({ count }) => count > 0) };
}

export function toCounter(instrument: Instrument, readings: readonly Reading[]): Metric {
  return { kind: 'counter', instrument, readings };
}

export function toGauge(instrument: Instrument, readings: readonly Reading[]): Metric {
  return { kind: 'gauge', instrument, readings };
}
