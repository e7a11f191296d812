import type { Clock } from '#base/clock.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { LoadBalancer } from '#domain/upstreams/load-balancer.ts';
import type { Upstream } from '#domain/upstreams/upstream.ts';
import type { NodeReport, StoreReport, UpstreamReport } from '#surfaces/admin/node-report.ts';
import type { NodeDeps } from './open-node.ts';
import type { SharedStore } from './stores.ts';

export interface NodeReportDeps extends Pick<NodeDeps, 'settings' | 'snapshot' | 'loadBalancer' | 'state'> {
  readonly clock: Clock;
  /** Of the program. */
  readonly version: string;
  readonly uptimeSeconds: () => number;
}

/** What is told of a node to those who administer it; nothing of its secrets, nor of folders that the configuration does not name. */
export function createReadNode(parts: NodeReportDeps): () => NodeReport {
  const { settings, snapshot, state, clock, version, uptimeSeconds } = parts;
  return () => {
    const reasons = state.troubles();
    const now = clock.epochMs();
    return {
      node: { version, runtime: process.version, startedAt: Math.round(now - uptimeSeconds() * 1000), now },
      health: { status: reasons.length === 0 ? 'ok' : 'degraded', reasons },
      hindrances: state.hindrances(),
      stores: toStores(parts),
      upstreams: [...snapshot.current().deployments.values()].flatMap((deployment) => toUpstreams(parts, deployment)),
      configuration: { files: settings.configurationFiles, ...state.configuration },
    };
  };
}

function toStores({ settings: { shared }, state }: NodeReportDeps): readonly StoreReport[] {
  const isAway = (name: SharedStore['name']): boolean => state.isAway(name);
  return [
    { holds: 'records', kind: shared.databaseUrl === undefined ? 'sqlite' : 'postgres', isAway: isAway('database') },
    { holds: 'files', kind: shared.files === undefined ? 'disk' : 's3', isAway: false },
    { holds: 'limits', kind: shared.redisUrl === undefined ? 'memory' : 'redis', isAway: isAway('redis') },
  ];
}

function toUpstreams({ loadBalancer, clock }: NodeReportDeps, { id, upstreams }: Deployment): readonly UpstreamReport[] {
  return upstreams.map((upstream) => toUpstream(upstream, { deployment: id, loadBalancer, clock }));
}

function toUpstream(
  upstream: Upstream,
  { deployment, loadBalancer, clock }: { deployment: string; loadBalancer: LoadBalancer; clock: Clock },
): UpstreamReport {
  const { reason, failuresInARow, refusedStatus, lastError, offForMs } = loadBalancer.backOff(upstream, clock.nowMs());
  return {
    id: upstream.id,
    deployment,
    protocol: upstream.protocol,
    origin: upstream.endpoint?.origin ?? null,
    region: upstream.region ?? null,
    model: upstream.model,
    weight: upstream.weight,
    tier: upstream.tier,
    state: reason ?? 'ok',
    failuresInARow,
    refusedStatus: refusedStatus ?? null,
    lastError: lastError ?? null,
    offUntil: offForMs === 0 ? null : Math.round(clock.epochMs() + offForMs),
  };
}
