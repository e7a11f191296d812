import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Caches } from '#base/cache/bounded-cache.ts';
import type { UpstreamState } from '#domain/upstreams/load-balancer.ts';
import { counters, gauges, histograms, type Instrument } from './instruments.ts';
import { type Metric, toCounter, toGauge, toHistogram } from './metric.ts';
import type { DataPoint, SeriesStore } from './series.ts';

const resolutionMs = 20;

/** Values that are read at collection time instead of being counted. */
export interface LiveState {
  /** All configured upstreams. */
  readonly upstreams: () => Iterable<Pick<UpstreamState, 'id' | 'isPaused' | 'rejectsWith' | 'parallel' | 'maxParallel'>>;
  /** Number of calls that wait for full upstreams, by deployment. */
  readonly queues: () => Iterable<{ readonly deployment: string; readonly size: number }>;
  /** Number of errors in the configuration that was last rejected. It is 0 while the newest configuration is in force. */
  readonly configurationErrors: () => number;
}

interface NodeMetricsDeps {
  readonly series: SeriesStore;
  readonly live: LiveState;
  readonly readProcess: () => ProcessReadings;
  readonly caches: Caches;
}

/** Returns the metrics of a node, or of one of its workers. Omits metrics without values. */
export function readMetrics({ caches, live, readProcess, series }: NodeMetricsDeps): Metric[] {
  const metrics = [...readSeries(series), ...readLive(live), ...readProcessMetrics(readProcess()), readCaches(caches)];
  return metrics.filter((metric) => (metric.kind === 'histogram' ? metric.series : metric.readings).length > 0);
}

function readSeries(series: SeriesStore): Metric[] {
  const calls = [...series.listCallSeries()];
  const upstreams = [...series.listUpstreamSeries()];
  const usedCalls = calls.filter((call) => call.hasBeenUsed);
  const toCallHistogram = (name: 'timeToFirstByte' | 'timePerOutputToken' | 'timeBetweenChunks' | 'queueWait'): Metric => {
    return toHistogram(
      histograms[name],
      calls.map((call) => call[name]),
    );
  };
  const durations = calls.flatMap((call) => [...call.listDurations()]);
  const tokens = calls.flatMap(({ inputTokens, outputTokens }) => [inputTokens, outputTokens]);
  const upstreamDurations = upstreams.flatMap((upstream) => [...upstream.listDurations()]);
  const attempts = upstreams.flatMap((upstream) => upstream.countAttempts());
  const inFlightCalls = usedCalls.map(({ inFlightCalls: value, attributes }) => ({ value, attributes }));
  const openStreams = usedCalls.map(({ openStreams: value, attributes }) => ({ value, attributes }));
  return [
    toHistogram(histograms.httpRequest, series.http.listDurations()),
    toHistogram(histograms.call, durations),
    toCallHistogram('timeToFirstByte'),
    toCallHistogram('timePerOutputToken'),
    toCallHistogram('timeBetweenChunks'),
    toCallHistogram('queueWait'),
    toHistogram(histograms.tokens, tokens),
    toHistogram(histograms.attempt, upstreamDurations),
    toCounter(counters.upstreamTries, attempts),
    toCounter(counters.spend, series.spend.toDataPoints()),
    toGauge(gauges.inFlightCalls, inFlightCalls),
    toGauge(gauges.openStreams, openStreams),
  ];
}

function readLive({ configurationErrors, upstreams, queues }: LiveState): Metric[] {
  const states: DataPoint[] = [];
  const parallelCalls: DataPoint[] = [];
  const maxParallelCalls: DataPoint[] = [];
  for (const { id, isPaused, rejectsWith, parallel, maxParallel } of upstreams()) {
    const attributes = { 'parley.upstream': id };
    const value = rejectsWith === undefined ? 0 : 2;
    states.push({ value: isPaused ? 1 : value, attributes });
    if (maxParallel === undefined) continue;
    parallelCalls.push({ value: parallel, attributes });
    maxParallelCalls.push({ value: maxParallel, attributes });
  }
  const queued = [...queues()].map(({ deployment, size }) => ({
    value: size,
    attributes: { 'gen_ai.request.model': deployment },
  }));
  return [
    toGauge(gauges.upstreamState, states),
    toGauge(gauges.parallelCalls, parallelCalls),
    toGauge(gauges.maxParallelCalls, maxParallelCalls),
    toGauge(gauges.queuedCalls, queued),
    toGauge(gauges.configurationErrors, [toDataPoint(configurationErrors())]),
  ];
}

/** Returns the metrics of this process: CPU, memory, and event loop. */
export function readProcessMetrics(readings: ProcessReadings): Metric[] {
  const gauge = (instrument: Instrument, value: number): Metric => toGauge(instrument, [toDataPoint(value)]);
  const cpu = [
    { value: readings.cpuUserSeconds, attributes: { 'cpu.mode': 'user' } },
    { value: readings.cpuSystemSeconds, attributes: { 'cpu.mode': 'system' } },
  ];
  const memory = [
    { value: readings.heapBytes, attributes: { 'parley.memory': 'heap' } },
    { value: readings.arrayBuffersBytes, attributes: { 'parley.memory': 'array_buffers' } },
    { value: readings.externalBytes, attributes: { 'parley.memory': 'external' } },
  ];
  return [
    toCounter(counters.cpu, cpu),
    gauge(gauges.memory, readings.residentBytes),
    gauge(gauges.heap, readings.heapUsedBytes),
    toGauge(gauges.processMemory, memory),
    gauge(gauges.eventLoopDelay, readings.eventLoopDelaySeconds),
    gauge(gauges.eventLoopUtilization, readings.eventLoopUtilization),
    gauge(gauges.uptime, readings.uptimeSeconds),
  ];
}

function readCaches(caches: Caches): Metric {
  const sizes = caches.sizes().map(({ name, bytes }) => ({ value: bytes, attributes: { 'parley.cache': name } }));
  return toGauge(gauges.cacheSize, sizes);
}

function toDataPoint(value: number): DataPoint {
  return { value, attributes: {} };
}

interface ProcessReadings {
  readonly cpuUserSeconds: number;
  readonly cpuSystemSeconds: number;
  readonly residentBytes: number;
  readonly heapUsedBytes: number;
  /** Includes the reserved part of the heap that is not in use. */
  readonly heapBytes: number;
  readonly arrayBuffersBytes: number;
  /** Memory outside of the heap, without array buffers. */
  readonly externalBytes: number;
  /** The 99th percentile since the previous reading. */
  readonly eventLoopDelaySeconds: number;
  /** Share of the time since the previous reading that the event loop was busy, from 0 to 1. */
  readonly eventLoopUtilization: number;
  readonly uptimeSeconds: number;
}

/** Monitors the event loop. Each call of `readProcess` resets its values. */
export function watchProcess(): { readProcess: () => ProcessReadings; stop: () => void } {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  let utilization = performance.eventLoopUtilization();
  return {
    readProcess() {
      const cpu = process.cpuUsage();
      const memory = process.memoryUsage();
      const p99Ms = delay.count === 0 ? 0 : Math.max(0, delay.percentile(99) / 1e6 - resolutionMs);
      delay.reset();
      const before = utilization;
      utilization = performance.eventLoopUtilization();
      return {
        cpuUserSeconds: cpu.user / 1e6,
        cpuSystemSeconds: cpu.system / 1e6,
        residentBytes: memory.rss,
        heapUsedBytes: memory.heapUsed,
        heapBytes: memory.heapTotal,
        arrayBuffersBytes: memory.arrayBuffers,
        externalBytes: memory.external - memory.arrayBuffers,
        eventLoopDelaySeconds: p99Ms / 1000,
        eventLoopUtilization: performance.eventLoopUtilization(utilization, before).utilization,
        uptimeSeconds: process.uptime(),
      };
    },
    stop: () => void delay.disable(),
  };
}
