import { createHmac, randomFillSync, randomUUID } from 'node:crypto';
import type { Caches } from '#base/cache/bounded-cache.ts';
import { TraceIds } from '#base/http/trace-context.ts';
import { tryDecode } from '#base/http/url-path.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Telemetry } from '#domain/calls/telemetry.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { Log } from './log.ts';
import { type CallListener, MeasuredCall, type MeasuredCallDeps } from './measured-call.ts';
import type { Metric } from './metric.ts';
import { type LiveState, readMetrics, watchProcess } from './node-metrics.ts';
import { CallLog, callerTextBounds, createFailureLog, type LineSink } from './open-log.ts';
import type { ExportSettings } from './otlp/export.ts';
import { type MetricsFormat, PrometheusText } from './prometheus-text.ts';
import { type Labels, SeriesStore } from './series.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface TelemetryOptions {
  readonly env: Environment;
  readonly clock: Clock;
  readonly caches: Caches;
  readonly log: Log;
  /** Receives the line of each call. It is the sink that the log writes to. */
  readonly lines: LineSink;
  readonly live: LiveState;
  readonly version: string;
  readonly listeners: readonly CallListener[];
  /** Key of the pseudonyms. With the same secret, a user has the same pseudonym on all nodes and after every restart. */
  readonly secret: string;
  /** Identifies the node in `/metrics` and to the collector. Random by default. */
  readonly instanceId?: string;
}

/** Metrics, traces, and call log of a node. */
export interface NodeTelemetry extends Telemetry {
  /**
   * Sets the deployments in force, whose IDs become labels, and the maximum number of spend series (default: 0). Must be called at
   * the start and on each reload.
   */
  configure(deployments: Iterable<Deployment>, maxSpendSeries?: number): void;
  /** Records a request that is not a call. `route` is a route pattern. */
  recordRequest(request: { readonly method: string; readonly route: string; readonly status: number; readonly ms: number }): void;
  /** Returns the current metrics of this process. */
  readMetrics(): readonly Metric[];
  /** Returns the response body of `/metrics`, by default in the Prometheus format. */
  toPrometheus(format?: MetricsFormat, metrics?: readonly Metric[]): string;
  /** Sends the remaining data to the collector, which takes at most a second. */
  close(): Promise<void>;
}

const closeTimeoutMs = 1_000;
const pseudonymLength = 12;

export async function openTelemetry(options: TelemetryOptions): Promise<NodeTelemetry> {
  const { caches, clock, env, instanceId = randomUUID(), live, log, version } = options;
  const settings = readOtlpSettings(env);
  const resource = toResource(env, { version, instanceId });
  const series = new SeriesStore();
  const watch = watchProcess();
  const readAll = (): Metric[] => readMetrics({ series, live, readProcess: watch.readProcess, caches });
  const exporter =
    settings.exportsMetrics || settings.exportsTraces
      ? (await import('./otlp/export.ts')).startExport({ settings, resource, clock, log, readMetrics: readAll })
      : undefined;
  const listeners = createListeners(options);
  if (exporter?.spans !== undefined) listeners.push(exporter.spans);
  const onFailure = log.isLevelOn('error') ? createFailureLog(log) : undefined;
  const deps: MeasuredCallDeps = { series, listeners, onFailure, traces: toTraceSettings(settings) };
  const prometheus = new PrometheusText();
  return {
    startCall: (start) => new MeasuredCall(deps, start),
    configure(deployments, maxSpendSeries = 0) {
      series.configure(deployments);
      series.spend.maxSeries = maxSpendSeries;
    },
    recordRequest: ({ method, route, status, ms }) => series.http.get(method, route, status).record(ms / 1000),
    readMetrics: readAll,
    toPrometheus: (format = 'prometheus', metrics = readAll()) => prometheus.write(resource, metrics, format),
    async close() {
      watch.stop();
      await Promise.race([exporter?.close(), new Promise((resolve) => setTimeout(resolve, closeTimeoutMs).unref())]);
    },
  };
}

function createListeners({ caches, clock, lines, listeners: otherListeners, log, secret }: TelemetryOptions): CallListener[] {
  const toPseudonym = (subject: string): string =>
    createHmac('sha256', secret).update(`log ${subject}`).digest('hex').slice(0, pseudonymLength);
  const listeners = [...otherListeners];
  if (log.isLevelOn('info')) {
    const callers = caches.create('log_callers', callerTextBounds);
    listeners.push(new CallLog({ sink: lines, callers, epochMs: clock.epochMs, toPseudonym, redact: log.redact }));
  }
  return listeners;
}

function toTraceSettings({ exportsTraces, sampledFraction }: OtlpSettings): MeasuredCallDeps['traces'] {
  return {
    ids: new TraceIds((bytes) => void randomFillSync(bytes)),
    hasSpans: exportsTraces,
    // Decided by the last 56 bits of the ID, so that all nodes make the same decision (OpenTelemetry's consistent sampling).
    isSampled:
      sampledFraction >= 1 ? undefined : (traceId) => Number.parseInt(traceId.slice(18), 16) / 2 ** 56 >= 1 - sampledFraction,
  };
}

/** OpenTelemetry exporters that the environment selects. The exporters themselves read addresses, headers, and timeouts. */
interface OtlpSettings extends ExportSettings {
  /** Fraction of traces to record, from 0 to 1. Applies only to traces that start here. Otherwise, the client decides. */
  readonly sampledFraction: number;
}

const defaultMetricIntervalMs = 60_000;
const defaultSpanDelayMs = 5_000;

function readOtlpSettings(env: Environment): OtlpSettings {
  const isOn = env.OTEL_SDK_DISABLED?.toLowerCase() !== 'true';
  const isExported = (signal: 'METRICS' | 'TRACES'): boolean => {
    const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT || env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`];
    return isOn && Boolean(endpoint) && env[`OTEL_${signal}_EXPORTER`] !== 'none';
  };
  return {
    exportsMetrics: isExported('METRICS'),
    exportsTraces: isExported('TRACES'),
    metricIntervalMs: toNumber(env.OTEL_METRIC_EXPORT_INTERVAL, defaultMetricIntervalMs),
    spanDelayMs: toNumber(env.OTEL_BSP_SCHEDULE_DELAY, defaultSpanDelayMs),
    sampledFraction: readSampledFraction(env),
  };
}

/**
 * Returns the OpenTelemetry resource of the node, including the attributes from `OTEL_SERVICE_NAME` and
 * `OTEL_RESOURCE_ATTRIBUTES`.
 */
function toResource(env: Environment, node: { version: string; instanceId: string }): Labels {
  const attributes = readAttributes(env.OTEL_RESOURCE_ATTRIBUTES);
  return {
    'service.version': node.version,
    'service.instance.id': node.instanceId,
    ...attributes,
    'service.name': env.OTEL_SERVICE_NAME || (attributes['service.name'] ?? 'parley'),
  };
}

function readSampledFraction(env: Environment): number {
  if (env.OTEL_TRACES_SAMPLER?.endsWith('always_off')) return 0;
  if (!env.OTEL_TRACES_SAMPLER?.endsWith('traceidratio')) return 1;
  return Math.min(1, toNumber(env.OTEL_TRACES_SAMPLER_ARG, 1));
}

function readAttributes(text: string | undefined): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const pair of (text ?? '').split(',')) {
    // Pattern bound: part of an environment variable, which the operator writes.
    const [, key, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    if (key !== undefined && value !== undefined) attributes[key] = tryDecode(value) ?? value;
  }
  return attributes;
}

function toNumber(text: string | undefined, defaultNumber: number): number {
  const value = Number(text);
  return text === undefined || text.trim() === '' || !(value >= 0) ? defaultNumber : value;
}
