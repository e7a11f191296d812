import type { Instrument } from './instruments.ts';
import type { DataPoint, HistogramPoint } from './series.ts';

/** A metric at the time of collection: a histogram, a counter, or a gauge. */
export type Metric =
  | { readonly kind: 'histogram'; readonly instrument: Instrument; readonly series: readonly HistogramPoint[] }
  | { readonly kind: 'counter' | 'gauge'; readonly instrument: Instrument; readonly readings: readonly DataPoint[] };

/** Returns the series that have recorded a value. */
export function toHistogram(instrument: Instrument, series: Iterable<HistogramPoint>): Metric {
  return { kind: 'histogram', instrument, series: [...series].filter(({ count }) => count > 0) };
}

export function toCounter(instrument: Instrument, readings: readonly DataPoint[]): Metric {
  return { kind: 'counter', instrument, readings };
}

export function toGauge(instrument: Instrument, readings: readonly DataPoint[]): Metric {
  return { kind: 'gauge', instrument, readings };
}
