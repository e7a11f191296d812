import { ValueType } from '@opentelemetry/api';
import { AggregationTemporality, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics';
import type { Metric } from '../metric.ts';

/** Seconds since the epoch and the remaining nanoseconds. */
export type HrTime = [number, number];

/** Start of counting, and the current time. */
export type Times = readonly [start: HrTime, end: HrTime];

/** Returns a metric in OpenTelemetry's data model. All sums are cumulative. */
export function toMetricData(metric: Metric, [startTime, endTime]: Times): MetricData {
  const { name, unit, description } = metric.instrument;
  const descriptor = { name, unit, description, valueType: ValueType.DOUBLE };
  const base = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  if (metric.kind === 'histogram') {
    const dataPoints = metric.series.map(({ attributes, boundaries, count, counts, sum }) => {
      const value = { buckets: { boundaries: [...boundaries], counts: [...counts] }, sum, count };
      return { startTime, endTime, attributes, value };
    });
    return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = metric.readings.map(({ attributes, value }) => ({ startTime, endTime, attributes, value }));
  if (metric.kind === 'gauge') return { ...base, dataPointType: DataPointType.GAUGE, dataPoints };
  return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
}

export function toHrTime(epochMs: number): HrTime {
  const seconds = Math.floor(epochMs / 1000);
  return [seconds, Math.round((epochMs - seconds * 1000) * 1e6)];
}
