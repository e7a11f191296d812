import { gauges, type Instrument } from './instruments.ts';
import type { DataPoint, HistogramPoint, Labels } from './series.ts';

/** A metric at the time of collection: a histogram, a counter, or a gauge. */
export type Metric =
  | { readonly kind: 'histogram'; readonly instrument: Instrument; readonly series: readonly HistogramPoint[] }
  | { readonly kind: 'counter' | 'gauge'; readonly instrument: Instrument; readonly readings: readonly DataPoint[] };

/** Returns a metric with the series that have recorded a value. */
export function toHistogram(instrument: Instrument, series: Iterable<HistogramPoint>): Metric {
  return { kind: 'histogram', instrument, series: [...series].filter(({ count }) => count > 0) };
}

export function toCounter(instrument: Instrument, readings: readonly DataPoint[]): Metric {
  return { kind: 'counter', instrument, readings };
}

export function toGauge(instrument: Instrument, readings: readonly DataPoint[]): Metric {
  return { kind: 'gauge', instrument, readings };
}

/** Gauges whose highest value represents the node. All other gauges are summed. */
const maxGauges: ReadonlySet<string> = new Set(
  [gauges.upstreamState, gauges.configurationErrors, gauges.eventLoopDelay, gauges.eventLoopUtilization, gauges.uptime].map(
    ({ name }) => name,
  ),
);

/** Returns the metrics with plain arrays, so that they can be sent as JSON. */
export function toPlainMetrics(metrics: readonly Metric[]): readonly Metric[] {
  return metrics.map((metric) =>
    metric.kind === 'histogram'
      ? { ...metric, series: metric.series.map((series) => ({ ...toPoint(series), counts: Array.from(series.counts) })) }
      : metric,
  );
}

function toPoint({ attributes, boundaries, counts, count, sum }: HistogramPoint): HistogramPoint {
  return { attributes, boundaries, counts, count, sum };
}

/** Returns the metrics that do not decrease, which remain part of the sums after a process has ended. */
export function withoutGauges(metrics: readonly Metric[]): readonly Metric[] {
  return metrics.filter(({ kind }) => kind !== 'gauge');
}

/** Combines the metrics of several processes. */
export function mergeMetrics(processes: readonly (readonly Metric[])[]): readonly Metric[] {
  const merged = new Map<string, Metric>();
  for (const metrics of processes) {
    for (const metric of metrics) {
      const { name } = metric.instrument;
      const existing = merged.get(name);
      merged.set(name, existing === undefined ? metric : mergeTwo(existing, metric));
    }
  }
  return [...merged.values()];
}

function mergeTwo(first: Metric, second: Metric): Metric {
  if (first.kind === 'histogram' && second.kind === 'histogram')
    return { ...first, series: mergePoints([...first.series, ...second.series], addHistograms) };
  if (first.kind === 'histogram' || second.kind === 'histogram') return first;
  const combine = maxGauges.has(first.instrument.name) ? Math.max : (sum: number, value: number) => sum + value;
  const add = (point: DataPoint, added: DataPoint): DataPoint => ({ ...point, value: combine(point.value, added.value) });
  return { ...first, readings: mergePoints([...first.readings, ...second.readings], add) };
}

function mergePoints<Point extends { readonly attributes: Labels }>(
  points: readonly Point[],
  add: (first: Point, second: Point) => Point,
): readonly Point[] {
  const merged = new Map<string, Point>();
  for (const point of points) {
    const key = JSON.stringify(point.attributes);
    const existing = merged.get(key);
    merged.set(key, existing === undefined ? point : add(existing, point));
  }
  return [...merged.values()];
}

function addHistograms(first: HistogramPoint, second: HistogramPoint): HistogramPoint {
  const counts = Array.from(first.counts, (count, index) => count + (second.counts[index] ?? 0));
  return { ...toPoint(first), counts, count: first.count + second.count, sum: first.sum + second.sum };
}
