import { DiagLogLevel, diag, type HrTime, ValueType } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import type { Clock } from '#base/time/clock.ts';
import type { Log } from '../log.ts';
import type { CallListener } from '../measured-call.ts';
import type { Metric } from '../metric.ts';
import type { Labels } from '../series.ts';
import { SpanSink, toHrTime } from './span-sink.ts';

// Import this file only if the environment names a collector: OpenTelemetry's packages cost 130 ms and 17 MB at the start.

/** Signals to export, and their intervals. */
export interface ExportSettings {
  readonly exportsMetrics: boolean;
  readonly exportsTraces: boolean;
  readonly metricIntervalMs: number;
  readonly spanDelayMs: number;
}

interface ExportDeps {
  readonly settings: ExportSettings;
  readonly resource: Labels;
  readonly clock: Clock;
  readonly log: Log;
  readonly readMetrics: () => readonly Metric[];
}

interface Export {
  /** Exports the spans of calls. Undefined if no traces are exported. */
  readonly spans: CallListener | undefined;
  /** Sends the remaining data and ends the export. */
  close(): Promise<void>;
}

const maxExportMs = 30_000;
const maxDiagnosticChars = 500;

/** Starts to send metrics and spans to a collector. OpenTelemetry reads addresses, headers, and timeouts from the environment. */
export function startExport(deps: ExportDeps): Export {
  logDiagnostics(deps.log);
  const reader = deps.settings.exportsMetrics ? exportMetrics(deps) : undefined;
  const spans = deps.settings.exportsTraces ? exportSpans(deps) : undefined;
  return {
    spans: spans?.sink,
    async close() {
      await Promise.allSettled([reader?.shutdown(), spans?.processor.shutdown()]);
    },
  };
}

function exportMetrics({ clock, readMetrics, resource, settings }: ExportDeps): PeriodicExportingMetricReader {
  const startTime = toHrTime(clock.epochMs());
  const exporter = new OTLPMetricExporter();
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: settings.metricIntervalMs,
    exportTimeoutMillis: Math.min(settings.metricIntervalMs, maxExportMs),
  });
  const exportedResource = resourceFromAttributes(resource);
  reader.setMetricProducer({
    async collect() {
      const endTime = toHrTime(clock.epochMs());
      const metrics = readMetrics().map((metric) => toMetricData(metric, [startTime, endTime]));
      return {
        resourceMetrics: { resource: exportedResource, scopeMetrics: [{ scope: { name: 'parley' }, metrics }] },
        errors: [],
      };
    },
  });
  return reader;
}

/** At most 2,048 spans wait. Further spans are dropped. */
function exportSpans({ clock, resource, settings }: ExportDeps): { processor: BatchSpanProcessor; sink: SpanSink } {
  const processor = new BatchSpanProcessor({ exporter: new OTLPTraceExporter(), scheduledDelayMillis: settings.spanDelayMs });
  const epochOffsetMs = (): number => clock.epochMs() - clock.nowMs();
  return { processor, sink: new SpanSink({ processor, resource: resourceFromAttributes(resource), epochOffsetMs }) };
}

function logDiagnostics(log: Log): void {
  const warn = (...args: unknown[]): void => log.warn(`telemetry export: ${args.join(' ').slice(0, maxDiagnosticChars)}`);
  const silent = (): void => {};
  const logger = { error: warn, warn, info: silent, debug: silent, verbose: silent };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** Start of counting, and the current time. */
type Times = readonly [start: HrTime, end: HrTime];

/** Returns a metric in OpenTelemetry's data model. All sums are cumulative. */
function toMetricData(metric: Metric, [startTime, endTime]: Times): MetricData {
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
