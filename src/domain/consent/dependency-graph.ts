import { maxConsentFormDeployments } from '#contract/consent.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Caller } from '../callers/caller.ts';
import type { ConfigSnapshot } from '../deployments/config-snapshot.ts';
import type { Deployment } from '../deployments/deployment.ts';

/** Lookup of deployments and their dependencies from the perspective of one caller. */
export interface DependencySource {
  /**
   * Looks up several IDs in one query. A missing deployment is undefined, and a saved application that is hidden from the caller is
   * null. The result has the order of the IDs.
   */
  findAll(ids: readonly string[]): Promise<ReadonlyMap<string, Deployment | null | undefined>>;
  /** Returns the IDs of the deployments that this one calls. */
  listDependencies(deployment: Deployment): Promise<readonly string[]>;
}

/** Returns the source for a caller, from the current configuration. */
export type OpenDependencies = (snapshot: ConfigSnapshot, caller: Caller) => DependencySource;

/** A deployment, and the ID of one that it calls. */
export interface DependencyEdge {
  readonly deployment: string;
  readonly dependency: string;
}

/** Deployments that are reachable from a root. */
export interface DependencyGraph {
  /** Unique deployments in breadth-first order. The root is first. */
  readonly deployments: readonly Deployment[];
  /** Edges to unique IDs that do not exist, each from the first deployment that depends on the ID. */
  readonly dangling: readonly DependencyEdge[];
}

/**
 * Walks the graph breadth-first. Handles cycles. Throws `operation_not_supported` if the graph has more deployments than a form
 * may contain.
 */
export async function walkDependencies(root: Deployment, source: DependencySource): Promise<DependencyGraph> {
  const deployments = [root];
  const dangling: DependencyEdge[] = [];
  const seen = new Set([root.id]);
  let level: readonly Deployment[] = deployments;
  while (level.length > 0) {
    const edges = await findNewEdges(level, source, seen);
    if (seen.size > maxConsentFormDeployments) throw createTooManyError(root);
    const deploymentsById = await source.findAll(edges.map(({ dependency }) => dependency));
    level = edges.flatMap(({ dependency }) => deploymentsById.get(dependency) ?? []);
    deployments.push(...level);
    dangling.push(...edges.filter(({ dependency }) => deploymentsById.get(dependency) === undefined));
  }
  return { deployments, dangling };
}

/** Returns the edges from a level to IDs that are not in `seen`, and adds these IDs to `seen`. */
async function findNewEdges(
  level: readonly Deployment[],
  source: DependencySource,
  seen: Set<string>,
): Promise<readonly DependencyEdge[]> {
  const dependencyIds = await Promise.all(level.map((deployment) => source.listDependencies(deployment)));
  const edges: DependencyEdge[] = [];
  level.forEach(({ id }, index) => {
    for (const dependency of dependencyIds[index] ?? []) {
      if (seen.has(dependency)) continue;
      seen.add(dependency);
      edges.push({ deployment: id, dependency });
    }
  });
  return edges;
}

function createTooManyError({ id }: Deployment): ParleyError {
  return new ParleyError(
    'operation_not_supported',
    `Parley cannot create a consent form for ${id}, because it leads to more than ${maxConsentFormDeployments} deployments.`,
  );
}
