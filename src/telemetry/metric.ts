import type { Instrument } from './instruments.ts';
import type { Histogram, Reading } from './series.ts';

/** A metric as it stands: series of a histogram, values that only grow, or values as they are now. */
export type Metric =
  | { readonly kind: 'histogram'; readonly instrument: Instrument; readonly series: readonly Histogram[] }
  | { readonly kind: 'counter' | 'gauge'; readonly instrument: Instrument; readonly readings: readonly Reading[] };

/** The series that counted something. */
export function toHistogram(instrument: Instrument, series: Iterable<Histogram>): Metric {
  return { kind: 'histogram', instrument, series: [...series].filter(({ count }) => count > 0) };
}

export function toCounter(instrument: Instrument, readings: readonly Reading[]): Metric {
  return { kind: 'counter', instrument, readings };
}

export function toGauge(instrument: Instrument, readings: readonly Reading[]): Metric {
  return { kind: 'gauge', instrument, readings };
}
