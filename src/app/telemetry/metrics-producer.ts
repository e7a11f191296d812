import { ValueType } from '@opentelemetry/api';
import {
  AggregationTemporality,
  DataPointType,
  type MetricData,
  type MetricProducer,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import type { Histogram } from './histogram.ts';
import { counters, gauges, type HistogramInstrument, histograms, type Instrument } from './instruments.ts';
import type { ProcessReadings } from './process-readings.ts';
import type { SeriesStore } from './series-store.ts';

/** One value of a metric with its labels. */
export interface Reading {
  readonly value: number;
  readonly attributes: Readonly<Record<string, string>>;
}

/** What is read at the moment of collection, rather than counted. */
export interface LiveState {
  /** Upstreams that are left alone for a while, by id, of all that are configured. */
  readonly upstreams: () => Iterable<{ readonly id: string; readonly off: boolean }>;
  /** How many faults the configuration has that was last refused; 0 when the newest is in force. */
  readonly configurationFaults: () => number;
}

export interface ProducerParts {
  readonly series: SeriesStore;
  readonly live: LiveState;
  readonly readProcess: () => ProcessReadings;
  readonly epochMs: () => number;
  readonly resource: ResourceMetrics['resource'];
}

type Times = readonly [start: [number, number], end: [number, number]];

/** Gives OpenTelemetry's readers and serializers what the node has counted, in their own data model. */
export class NodeMetrics implements MetricProducer {
  readonly #parts: ProducerParts;
  readonly #startTime: [number, number];

  constructor(parts: ProducerParts) {
    this.#parts = parts;
    this.#startTime = toHrTime(parts.epochMs());
  }

  async collect(): Promise<{ resourceMetrics: ResourceMetrics; errors: unknown[] }> {
    return { resourceMetrics: this.read(), errors: [] };
  }

  read(): ResourceMetrics {
    const times: Times = [this.#startTime, toHrTime(this.#parts.epochMs())];
    const metrics = [...this.#histograms(times), ...this.#counters(times), ...this.#gauges(times)];
    const used = metrics.filter(({ dataPoints }) => dataPoints.length > 0);
    return { resource: this.#parts.resource, scopeMetrics: [{ scope: { name: 'parley' }, metrics: used }] };
  }

  #histograms(times: Times): MetricData[] {
    const { series } = this.#parts;
    const calls = [...series.calls()];
    return [
      toHistogram(histograms.httpRequest, series.http.durations(), times),
      toHistogram(histograms.call, calls.flatMap((call) => [...call.durations()]), times),
      toHistogram(histograms.firstByte, calls.map(({ firstByte }) => firstByte), times),
      toHistogram(histograms.outputToken, calls.map(({ outputToken }) => outputToken), times),
      toHistogram(histograms.betweenChunks, calls.map(({ betweenChunks }) => betweenChunks), times),
      toHistogram(histograms.tokens, calls.flatMap(({ inputTokens, outputTokens }) => [inputTokens, outputTokens]), times),
      toHistogram(histograms.upstreamTry, [...series.upstreams()].flatMap((upstream) => [...upstream.durations()]), times),
    ];
  }

  #counters(times: Times): MetricData[] {
    const tries = [...this.#parts.series.upstreams()].flatMap(({ id, tries }) => tries().map(([outcome, value]) => ({ id, outcome, value })));
    const { cpuUserSeconds, cpuSystemSeconds } = this.#parts.readProcess();
    return [
      toSum(counters.upstreamTries, tries.map(({ id, outcome, value }) => ({ value, attributes: { 'parley.upstream': id, 'parley.outcome': outcome } })), times),
      toSum(counters.cpu, [
        { value: cpuUserSeconds, attributes: { 'cpu.mode': 'user' } },
        { value: cpuSystemSeconds, attributes: { 'cpu.mode': 'system' } },
      ], times),
    ];
  }

  #gauges(times: Times): MetricData[] {
    return [];
  }
}

function toHistogram(instrument: HistogramInstrument, series: Iterable<Histogram>, [start, end]: Times): MetricData {
  const dataPoints = [];
  for (const one of series) if (one.count > 0) dataPoints.push(one.toDataPoint(start, end));
  return {
    descriptor: toDescriptor(instrument),
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.HISTOGRAM,
    dataPoints,
  };
}

function toSum(instrument: Instrument, readings: readonly Reading[], times: Times): MetricData {
  return { ...toGauge(instrument, readings, times), dataPointType: DataPointType.SUM, isMonotonic: true };
}

function toGauge(instrument: Instrument, readings: readonly Reading[], [startTime, endTime]: Times) {
  return {
    descriptor: toDescriptor(instrument),
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.GAUGE as const,
    dataPoints: readings.map(({ value, attributes }) => ({ startTime, endTime, attributes, value })),
  };
}

function toDescriptor({ name, unit, description }: Instrument) {
  return { name, unit, description, valueType: ValueType.DOUBLE };
}

function toHrTime(epochMs: number): [number, number] {
  const seconds = Math.floor(epochMs / 1000);
  return [seconds, Math.round((epochMs - seconds * 1000) * 1e6)];
}
