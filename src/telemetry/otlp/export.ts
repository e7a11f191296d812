import { DiagLogLevel, diag } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import type { Clock } from '#base/time/clock.ts';
import type { Log } from '../log.ts';
import type { CallListener } from '../measured-call.ts';
import type { Metric } from '../metric.ts';
import type { OtlpSettings } from '../otlp-settings.ts';
import type { Labels } from '../series.ts';
import { SpanSink } from './span-sink.ts';
import { toHrTime, toMetricData } from './to-metric-data.ts';

// Import this file only if the environment names a collector: OpenTelemetry's packages cost 130 ms and 17 MB at the
// start.

export interface ExportDeps {
  readonly settings: OtlpSettings;
  readonly resource: Labels;
  readonly clock: Clock;
  readonly log: Log;
  readonly readMetrics: () => readonly Metric[];
}

export interface Export {
  /** Creates spans of calls. Undefined if no traces are exported. */
  readonly spans: CallListener | undefined;
  /** Sends the remaining data and ends the export. */
  close(): Promise<void>;
}

const maxExportMs = 30_000;
const maxComplaintChars = 500;

/** Starts to send metrics and spans to a collector. OpenTelemetry reads addresses, headers, and timeouts from the environment. */
export function startExport(parts: ExportDeps): Export {
  logComplaints(parts.log);
  const reader = parts.settings.metrics ? exportMetrics(parts) : undefined;
  const spans = parts.settings.traces ? exportSpans(parts) : undefined;
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
  const from = resourceFromAttributes(resource);
  reader.setMetricProducer({
    async collect() {
      const endTime = toHrTime(clock.epochMs());
      const metrics = readMetrics().map((metric) => toMetricData(metric, [startTime, endTime]));
      return { resourceMetrics: { resource: from, scopeMetrics: [{ scope: { name: 'parley' }, metrics }] }, errors: [] };
    },
  });
  return reader;
}

/** At most 2,048 spans wait. Further spans are dropped. */
function exportSpans({ clock, resource, settings }: ExportDeps): { processor: BatchSpanProcessor; sink: SpanSink } {
  const processor = new BatchSpanProcessor({ exporter: new OTLPTraceExporter(), scheduledDelayMillis: settings.spanDelayMs });
  const epochOffsetMs = (): number => clock.epochMs() - clock.nowMs();
  return { processor, sink: new SpanSink({ taker: processor, resource: resourceFromAttributes(resource), epochOffsetMs }) };
}

function logComplaints(log: Log): void {
  const warn = (...args: unknown[]): void => log.warn(`telemetry export: ${args.join(' ').slice(0, maxComplaintChars)}`);
  const silent = (): void => {};
  const logger = { error: warn, warn, info: silent, debug: silent, verbose: silent };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}
