import type { Deployment } from '#domain/deployments/deployment.ts';
import { byOperation, type Operation, operations } from '#domain/telemetry.ts';
import { CallSeries } from './call-series.ts';
import { HttpSeries } from './http-series.ts';
import { UpstreamSeries } from './upstream-series.ts';

const other = '_OTHER';
const maxDeployments = 1_000;
const maxUpstreams = 2_000;

type DeploymentSeries = Readonly<Record<Operation, CallSeries>>;

/**
 * Every series of this node. Labels come from the configuration and from closed sets only: an id that no
 * configuration names, or one beyond 1,000 deployments and 2,000 upstreams, counts as `_OTHER`.
 */
export class SeriesStore {
  readonly http = new HttpSeries();
  readonly #otherDeployment = bindDeployment(other);
  readonly #otherUpstream = new UpstreamSeries(other, undefined);
  #deployments = new Map<string, DeploymentSeries>();
  #upstreams = new Map<string, UpstreamSeries>();

  /** Takes the deployments now in force; series of those gone are dropped. */
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
    return (this.#deployments.get(deployment) ?? this.#otherDeployment)[operation];
  }

  /** Of calls that were refused before anything was known of them. */
  unknownCall(operation: Operation): CallSeries {
    return this.#otherDeployment[operation];
  }

  upstream(id: string): UpstreamSeries {
    return this.#upstreams.get(id) ?? this.#otherUpstream;
  }

  *calls(): Iterable<CallSeries> {
    for (const series of [...this.#deployments.values(), this.#otherDeployment]) yield* operations.map((each) => series[each]);
  }

  upstreams(): Iterable<UpstreamSeries> {
    return [...this.#upstreams.values(), this.#otherUpstream];
  }
}

function bindDeployment(id: string): DeploymentSeries {
  return byOperation((operation) => new CallSeries(id, operation));
}
