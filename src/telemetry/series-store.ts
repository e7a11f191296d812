import type { Deployment } from '#domain/deployments/deployment.ts';
import { byOperation, type Operation, operations } from '#domain/telemetry.ts';
import { histograms } from './instruments.ts';
import { CallSeries, type DataPoint, Histogram, UpstreamSeries } from './series.ts';

const otherLabel = '_OTHER';
const maxDeployments = 1_000;
const maxUpstreams = 2_000;
const maxRoutes = 300;
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);

type DeploymentSeries = Readonly<Record<Operation, CallSeries>>;

/**
 * Every series of this node. Labels come only from the configuration and from closed sets. An ID that the configuration does
 * not name counts as `_OTHER`, and so does one beyond 1,000 deployments and 2,000 upstreams.
 */
export class SeriesStore {
  readonly http = new HttpSeries();
  readonly spend = new SpendSeries();
  /** Series of calls without a configured deployment. */
  readonly otherSeries = bindDeployment(otherLabel);
  readonly #otherUpstream = new UpstreamSeries(otherLabel, undefined);
  #deployments = new Map<string, DeploymentSeries>();
  #upstreams = new Map<string, UpstreamSeries>();

  /** Sets the deployments in force and drops the series of removed ones. */
  configure(deployments: Iterable<Deployment>): void {
    const before = { deployments: this.#deployments, upstreams: this.#upstreams };
    this.#deployments = new Map();
    this.#upstreams = new Map();
    for (const { id, upstreams } of deployments) {
      if (this.#deployments.size < maxDeployments) this.#deployments.set(id, before.deployments.get(id) ?? bindDeployment(id));
      for (const upstream of upstreams) {
        if (this.#upstreams.size >= maxUpstreams) break;
        this.#upstreams.set(upstream.id, before.upstreams.get(upstream.id) ?? new UpstreamSeries(upstream.id, upstream));
      }
    }
  }

  call(deployment: string, operation: Operation): CallSeries {
    return (this.#deployments.get(deployment) ?? this.otherSeries)[operation];
  }

  upstream(id: string): UpstreamSeries {
    return this.#upstreams.get(id) ?? this.#otherUpstream;
  }

  *calls(): Iterable<CallSeries> {
    for (const series of [...this.#deployments.values(), this.otherSeries])
      yield* operations.map((operation) => series[operation]);
  }

  upstreams(): Iterable<UpstreamSeries> {
    return [...this.#upstreams.values(), this.#otherUpstream];
  }
}

function bindDeployment(id: string): DeploymentSeries {
  return byOperation((operation) => new CallSeries(id, operation));
}

const nanosPerUsd = 1e9;

/** Cost of calls by project and deployment, at most `maxSeries` pairs. Further pairs count as `_OTHER`. Off if it is 0. */
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

/** Durations of HTTP requests by method, route pattern, and status. */
class HttpSeries {
  readonly #routes = new Map<string, Map<string, Map<number, Histogram>>>();

  of(method: string, route: string, status: number): Histogram {
    const byMethod = this.#routes.get(route) ?? this.#bindRoute(route);
    const byStatus = byMethod.get(method) ?? this.#bindMethod(byMethod, method);
    return byStatus.get(status) ?? this.#bindStatus(byStatus, { method, route, status });
  }

  *durations(): Iterable<Histogram> {
    for (const byMethod of this.#routes.values()) {
      for (const byStatus of byMethod.values()) yield* byStatus.values();
    }
  }

  #bindRoute(route: string): Map<string, Map<number, Histogram>> {
    const label = this.#routes.size < maxRoutes ? route : otherLabel;
    const byMethod = this.#routes.get(label) ?? new Map();
    this.#routes.set(label, byMethod);
    return byMethod;
  }

  #bindMethod(byMethod: Map<string, Map<number, Histogram>>, method: string): Map<number, Histogram> {
    const label = methods.has(method) ? method : otherLabel;
    const byStatus = byMethod.get(label) ?? new Map();
    byMethod.set(label, byStatus);
    return byStatus;
  }

  #bindStatus(
    byStatus: Map<number, Histogram>,
    { method, route, status }: { method: string; route: string; status: number },
  ): Histogram {
    const label = Number.isInteger(status) && status >= 100 && status <= 599 ? status : 0;
    const existing = byStatus.get(label);
    if (existing !== undefined) return existing;
    const series = new Histogram(histograms.httpRequest.boundaries, {
      'http.request.method': methods.has(method) ? method : otherLabel,
      'http.route': this.#routes.has(route) ? route : otherLabel,
      'http.response.status_code': String(label),
      ...(label >= 500 && { 'error.type': String(label) }),
    });
    byStatus.set(label, series);
    return series;
  }
}
