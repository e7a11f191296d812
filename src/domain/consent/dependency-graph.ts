import { maxConsentFormChars } from '#contract/consent.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Caller } from '../callers/caller.ts';
import type { ConfigSnapshot } from '../deployments/config-snapshot.ts';
import type { Deployment } from '../deployments/deployment.ts';

/** Where deployments and what they call are looked up, as one caller meets them. */
export interface DependencySource {
  /** Looks up several IDs in one query. A missing deployment is undefined. The result has the order of the IDs. */
  findAll(ids: readonly string[]): Promise<ReadonlyMap<string, Deployment | undefined>>;
  /** Ids of the deployments that it calls. */
  listDependencies(deployment: Deployment): Promise<readonly string[]>;
}

/** The source for a caller, out of the configuration in force. */
export type OpenDependencies = (snapshot: ConfigSnapshot, caller: Caller) => DependencySource;

/** A deployment names another one that does not exist. */
export interface Dangling {
  readonly deployment: string;
  readonly dependency: string;
}

/** What can be reached from a root. */
export interface DependencyGraph {
  /** Each once, the root first, nearer ones before those further away. */
  readonly deployments: readonly Deployment[];
  /** Each missing id once, with the first that names it. */
  readonly dangling: readonly Dangling[];
}

/** Walks breadth-first, in cycles too. Throws `operation_not_supported` for more deployments than a form may hold. */
export async function walkDependencies(root: Deployment, source: DependencySource): Promise<DependencyGraph> {
  const deployments = [root];
  const dangling: Dangling[] = [];
  const seen = new Set([root.id]);
  let level: readonly Deployment[] = deployments;
  while (level.length > 0) {
    const steps = await findNewSteps(level, source, seen);
    if (seen.size > maxConsentFormChars) throw tooMany(root);
    const deploymentsById = await source.findAll(steps.map(({ dependency }) => dependency));
    level = steps.flatMap(({ dependency }) => deploymentsById.get(dependency) ?? []);
    deployments.push(...level);
    dangling.push(...steps.filter(({ dependency }) => deploymentsById.get(dependency) === undefined));
  }
  return { deployments, dangling };
}

/** The edges from a level to what was not seen before. */
async function findNewSteps(
  level: readonly Deployment[],
  source: DependencySource,
  seen: Set<string>,
): Promise<readonly Dangling[]> {
  const dependencyIds = await Promise.all(level.map((deployment) => source.listDependencies(deployment)));
  const steps: Dangling[] = [];
  level.forEach(({ id }, index) => {
    for (const dependency of dependencyIds[index] ?? []) {
      if (seen.has(dependency)) continue;
      seen.add(dependency);
      steps.push({ deployment: id, dependency });
    }
  });
  return steps;
}

function tooMany({ id }: Deployment): ParleyError {
  return new ParleyError(
    'operation_not_supported',
    `No consent form can be made of ${id}: more than ${maxConsentFormChars} deployments can be reached from it.`,
  );
}
