import { protocols } from '#contract/configuration/protocols.ts';
import type { ErrorCode } from '#contract/errors/errors.ts';
import { type AttemptOutcome, byOperation, type CallOutcome, type Operation, operations } from '#domain/calls/telemetry.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { Upstream } from '#domain/upstreams/upstream.ts';
import { histograms } from './instruments.ts';

const otherLabel = '_OTHER';

export type Labels = Readonly<Record<string, string>>;

/** One value of a metric with its labels. */
export interface DataPoint {
  readonly value: number;
  readonly attributes: Labels;
}

/** State of one series of a histogram. */
export interface HistogramPoint {
  readonly attributes: Labels;
  readonly boundaries: readonly number[];
  /** Number of values per bucket. The last bucket has no upper bound, so there is one more than boundaries. */
  readonly counts: ArrayLike<number> & Iterable<number>;
  readonly count: number;
  readonly sum: number;
}

/** A series of an explicit-bucket histogram as OpenTelemetry defines it. Recording allocates nothing. */
export class Histogram implements HistogramPoint {
  readonly attributes: Labels;
  readonly boundaries: readonly number[];
  readonly counts: Float64Array;
  count = 0;
  sum = 0;

  constructor(boundaries: readonly number[], attributes: Labels) {
    this.boundaries = boundaries;
    this.counts = new Float64Array(boundaries.length + 1);
    this.attributes = attributes;
  }

  /**
   * Counts a value in the first bucket whose upper bound is not exceeded. A negative value, which clocks may produce, counts as
   * 0.
   */
  record(value: number): void {
    const { boundaries, counts } = this;
    let bucket = 0;
    while (bucket < boundaries.length && value > (boundaries[bucket] as number)) bucket += 1;
    counts[bucket] = (counts[bucket] as number) + 1;
    this.count += 1;
    if (value > 0) this.sum += value;
  }
}

/** Measurements of one operation of one deployment. Histograms of failed calls are created on first use. */
export class CallSeries {
  readonly timeToFirstByte: Histogram;
  readonly timePerOutputToken: Histogram;
  readonly timeBetweenChunks: Histogram;
  readonly queueWait: Histogram;
  readonly inputTokens: Histogram;
  readonly outputTokens: Histogram;
  readonly attributes: Labels;
  inFlightCalls = 0;
  openStreams = 0;
  /** Durations of successful calls. */
  readonly okDuration: Histogram;
  readonly #failedDurations = new Map<string, Histogram>();

  constructor(deployment: string, operation: Operation) {
    const labels = {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': 'parley',
      'gen_ai.request.model': deployment,
    };
    this.attributes = labels;
    this.timeToFirstByte = new Histogram(histograms.timeToFirstByte.boundaries, labels);
    this.timePerOutputToken = new Histogram(histograms.timePerOutputToken.boundaries, labels);
    this.timeBetweenChunks = new Histogram(histograms.timeBetweenChunks.boundaries, labels);
    this.queueWait = new Histogram(histograms.queueWait.boundaries, labels);
    this.inputTokens = new Histogram(histograms.tokens.boundaries, { ...labels, 'gen_ai.token.type': 'input' });
    this.outputTokens = new Histogram(histograms.tokens.boundaries, { ...labels, 'gen_ai.token.type': 'output' });
    this.okDuration = new Histogram(histograms.call.boundaries, { ...labels, 'parley.outcome': 'ok' });
  }

  /** Whether any call of this operation to this deployment was made. */
  get hasBeenUsed(): boolean {
    return this.inFlightCalls > 0 || this.okDuration.count > 0 || this.#failedDurations.size > 0;
  }

  listDurations(): Iterable<Histogram> {
    return [this.okDuration, ...this.#failedDurations.values()];
  }

  /** Returns the histogram for calls that did not succeed. The error code is one of a closed set. */
  getFailedDuration(outcome: CallOutcome, code: ErrorCode | undefined): Histogram {
    const key = `${outcome} ${code}`;
    let series = this.#failedDurations.get(key);
    if (series === undefined) {
      const labels = { ...this.attributes, 'parley.outcome': outcome };
      series = new Histogram(histograms.call.boundaries, code === undefined ? labels : { ...labels, 'error.type': code });
      this.#failedDurations.set(key, series);
    }
    return series;
  }
}

/** Measurements of the attempts at one upstream. */
export class UpstreamSeries {
  /** Attributes of an attempt's span. */
  readonly attributes: Labels;
  readonly #id: string;
  readonly #durations = new Map<string, Histogram>();
  /** Durations of successful attempts. */
  readonly okDurations: Readonly<Record<Operation, Histogram>>;

  /** `upstream` is undefined for the series that all unknown upstream IDs share. */
  constructor(id: string, upstream: Upstream | undefined) {
    this.#id = id;
    this.attributes = {
      'gen_ai.provider.name': upstream === undefined ? otherLabel : protocols[upstream.protocol].telemetryName,
      'gen_ai.request.model': upstream?.model ?? otherLabel,
      'parley.upstream': id,
      ...(upstream?.endpoint && { 'server.address': upstream.endpoint.hostname }),
    };
    this.okDurations = byOperation((operation) => this.#createHistogram(operation, 'ok'));
  }

  getFailedDuration(operation: Operation, outcome: AttemptOutcome): Histogram {
    return this.#durations.get(`${operation} ${outcome}`) ?? this.#createHistogram(operation, outcome);
  }

  listDurations(): Iterable<Histogram> {
    return this.#durations.values();
  }

  /** Returns the number of attempts by outcome. */
  countAttempts(): DataPoint[] {
    const counts = new Map<string, number>();
    for (const [key, { count }] of this.#durations) {
      const outcome = key.slice(key.indexOf(' ') + 1);
      counts.set(outcome, (counts.get(outcome) ?? 0) + count);
    }
    const nonEmpty = [...counts].filter(([, value]) => value > 0);
    return nonEmpty.map(([outcome, value]) => ({
      value,
      attributes: { 'parley.upstream': this.#id, 'parley.outcome': outcome },
    }));
  }

  #createHistogram(operation: Operation, outcome: AttemptOutcome): Histogram {
    const labels = { 'gen_ai.operation.name': operation, ...this.attributes };
    const series = new Histogram(histograms.attempt.boundaries, outcome === 'ok' ? labels : { ...labels, 'error.type': outcome });
    this.#durations.set(`${operation} ${outcome}`, series);
    return series;
  }
}

const maxDeployments = 1_000;
const maxUpstreams = 2_000;
const maxRoutes = 300;
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);

type DeploymentSeries = Readonly<Record<Operation, CallSeries>>;

/**
 * All series of this process. Labels come from the configuration and closed sets, except the projects of `spend`. IDs that are not
 * in the configuration count as `_OTHER`, and so do IDs beyond 1,000 deployments and 2,000 upstreams.
 */
export class SeriesStore {
  readonly http = new HttpSeries();
  readonly spend = new SpendSeries();
  /** Series of calls without a configured deployment. */
  readonly otherSeries = createDeploymentSeries(otherLabel);
  readonly #otherUpstream = new UpstreamSeries(otherLabel, undefined);
  #deployments = new Map<string, DeploymentSeries>();
  #upstreams = new Map<string, UpstreamSeries>();

  /** Sets the deployments in force and drops the series of removed ones. */
  configure(deployments: Iterable<Deployment>): void {
    const previous = { deployments: this.#deployments, upstreams: this.#upstreams };
    this.#deployments = new Map();
    this.#upstreams = new Map();
    for (const { id, upstreams } of deployments) {
      if (this.#deployments.size < maxDeployments)
        this.#deployments.set(id, previous.deployments.get(id) ?? createDeploymentSeries(id));
      for (const upstream of upstreams) {
        if (this.#upstreams.size >= maxUpstreams) break;
        this.#upstreams.set(upstream.id, previous.upstreams.get(upstream.id) ?? new UpstreamSeries(upstream.id, upstream));
      }
    }
  }

  getCallSeries(deployment: string, operation: Operation): CallSeries {
    return (this.#deployments.get(deployment) ?? this.otherSeries)[operation];
  }

  getUpstreamSeries(id: string): UpstreamSeries {
    return this.#upstreams.get(id) ?? this.#otherUpstream;
  }

  *listCallSeries(): Iterable<CallSeries> {
    for (const series of [...this.#deployments.values(), this.otherSeries])
      yield* operations.map((operation) => series[operation]);
  }

  listUpstreamSeries(): Iterable<UpstreamSeries> {
    return [...this.#upstreams.values(), this.#otherUpstream];
  }
}

function createDeploymentSeries(id: string): DeploymentSeries {
  return byOperation((operation) => new CallSeries(id, operation));
}

const nanosPerUsd = 1e9;

/** Cost of calls by project and deployment. Pairs beyond `maxSeries` count as `_OTHER`. If it is 0, no costs are recorded. */
class SpendSeries {
  maxSeries = 0;
  readonly #series = new Map<string, { nanos: number; readonly attributes: DataPoint['attributes'] }>();

  /** `cost` is in billionths of a USD. */
  add(project: string, deployment: string, cost: number): void {
    const series = this.#find(project, deployment) ?? this.#find(otherLabel, otherLabel, true);
    if (series !== undefined) series.nanos += cost;
  }

  toDataPoints(): DataPoint[] {
    return [...this.#series.values()].map(({ nanos, attributes }) => ({ value: nanos / nanosPerUsd, attributes }));
  }

  #find(project: string, deployment: string, isOther = false) {
    const key = JSON.stringify([project, deployment]);
    const existing = this.#series.get(key);
    if (existing !== undefined || (!isOther && this.#series.size >= this.maxSeries)) return existing;
    const series = { nanos: 0, attributes: { 'parley.project': project, 'gen_ai.request.model': deployment } };
    this.#series.set(key, series);
    return series;
  }
}

/** Durations of HTTP requests by method, route pattern, and status. Routes beyond the first 300 count as `_OTHER`. */
class HttpSeries {
  readonly #routes = new Set<string>();
  readonly #series = new Map<string, Histogram>();

  get(method: string, route: string, status: number): Histogram {
    if (this.#routes.size < maxRoutes) this.#routes.add(route);
    const methodLabel = methods.has(method) ? method : otherLabel;
    const routeLabel = this.#routes.has(route) ? route : otherLabel;
    const code = Number.isInteger(status) && status >= 100 && status <= 599 ? status : 0;
    const key = `${methodLabel} ${routeLabel} ${code}`;
    const existing = this.#series.get(key);
    if (existing !== undefined) return existing;
    const series = new Histogram(histograms.httpRequest.boundaries, {
      'http.request.method': methodLabel,
      'http.route': routeLabel,
      'http.response.status_code': String(code),
      ...(code >= 500 && { 'error.type': String(code) }),
    });
    this.#series.set(key, series);
    return series;
  }

  listDurations(): Iterable<Histogram> {
    return this.#series.values();
  }
}
