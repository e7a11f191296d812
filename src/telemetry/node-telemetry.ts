import { createHmac, randomFillSync, randomUUID } from 'node:crypto';
import type { Caches } from '#base/cache/bounded-cache.ts';
import { TraceIds } from '#base/http/trace-context.ts';
import type { Clock } from '#base/time/clock.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { Telemetry } from '#domain/telemetry.ts';
import type { Log } from './log.ts';
import { type CallListener, createStartCall, type MeasuredCallDeps } from './measured-call.ts';
import type { Metric } from './metric.ts';
import { type LiveState, readMetrics, watchProcess } from './node-metrics.ts';
import { CallLog, callerTextBounds, type LineSink, toFailureLog } from './open-log.ts';
import type { Export, ExportDeps } from './otlp/export.ts';
import { type OtlpSettings, readOtlpSettings, toResource } from './otlp-settings.ts';
import { type MetricsFormat, PrometheusText } from './prometheus-text.ts';
import { SeriesStore } from './series-store.ts';

export interface TelemetryOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly caches: Caches;
  readonly log: Log;
  /** Receives the line of each call. It is the sink that the log writes to. */
  readonly lines: LineSink;
  readonly live: LiveState;
  readonly version: string;
  /** Listeners that are notified when a call ends. */
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
  /** Counts a request that is not a call. `route` is a route pattern. */
  httpRequest(request: { readonly method: string; readonly route: string; readonly status: number; readonly ms: number }): void;
  /** Returns the current metrics of this process. */
  readMetrics(): readonly Metric[];
  /** Returns the response body of `/metrics`, by default in the Prometheus format. */
  toPrometheus(format?: MetricsFormat, metrics?: readonly Metric[]): string;
  /** Sends the remaining data to the collector, which takes at most a second. */
  close(): Promise<void>;
}

const closeMs = 1_000;
const pseudonymLength = 12;

export async function openTelemetry(options: TelemetryOptions): Promise<NodeTelemetry> {
  const { caches, clock, env, instanceId = randomUUID(), live, log, version } = options;
  const settings = readOtlpSettings(env);
  const resource = toResource(env, { version, instanceId });
  const series = new SeriesStore();
  const watch = watchProcess();
  const readAll = (): Metric[] => readMetrics({ series, live, readProcess: watch.readProcess, caches });
  const exporting =
    settings.metrics || settings.traces ? await loadExport({ settings, resource, clock, log, readMetrics: readAll }) : undefined;
  const listeners = toListeners(options);
  if (exporting?.spans !== undefined) listeners.push(exporting.spans);
  const onFailure = log.isLevelOn('error') ? toFailureLog(log) : undefined;
  const tools: MeasuredCallDeps = { series, listeners, onFailure, traces: toTraces(settings) };
  const prometheus = new PrometheusText();
  return {
    startCall: createStartCall(tools),
    configure(deployments, maxSpendSeries = 0) {
      series.configure(deployments);
      series.spend.maxSeries = maxSpendSeries;
    },
    httpRequest: ({ method, route, status, ms }) => series.http.of(method, route, status).record(ms / 1000),
    readMetrics: readAll,
    toPrometheus: (format = 'prometheus', metrics = readAll()) => prometheus.write(resource, metrics, format),
    async close() {
      watch.stop();
      await Promise.race([exporting?.close(), new Promise((resolve) => setTimeout(resolve, closeMs).unref())]);
    },
  };
}

async function loadExport(parts: ExportDeps): Promise<Export> {
  const { startExport } = await import('./otlp/export.ts');
  return startExport(parts);
}

function toListeners({ caches, clock, lines, listeners: otherListeners, log, secret }: TelemetryOptions): CallListener[] {
  const toPseudonym = (subject: string): string =>
    createHmac('sha256', secret).update(`log ${subject}`).digest('hex').slice(0, pseudonymLength);
  const listeners = [...otherListeners];
  if (log.isLevelOn('info')) {
    const callers = caches.create('log_callers', callerTextBounds);
    listeners.push(new CallLog({ sink: lines, callers, epochMs: clock.epochMs, toPseudonym, redact: log.clean }));
  }
  return listeners;
}

function toTraces({ ratio, traces }: OtlpSettings): MeasuredCallDeps['traces'] {
  return {
    ids: new TraceIds((bytes) => void randomFillSync(bytes)),
    hasSpans: traces,
    // Decided by the last 56 bits of the ID, so that all nodes make the same decision (OpenTelemetry's consistent sampling).
    isSampled: ratio >= 1 ? undefined : (traceId) => Number.parseInt(traceId.slice(18), 16) / 2 ** 56 >= 1 - ratio,
  };
}
