import { mayUse } from '../callers/access.ts';
import type { Actor } from '../callers/caller.ts';
import type { Dangling, DependencySource } from '../consent/dependency-graph.ts';
import type { Catalog } from '../deployments/catalog.ts';
import type { ConfigSnapshot } from '../deployments/config-snapshot.ts';
import type { Deployment } from '../deployments/deployment.ts';
import type { QuickApp } from './quick-app.ts';
import { toDeploymentFilter } from './to-deployment-filter.ts';

/** Where deployments are looked up, and for whom. */
export interface Looking {
  readonly catalog: Catalog;
  readonly snapshot: ConfigSnapshot;
  readonly caller: Actor;
}

/** What a deployment calls: the dependencies it declares; of a quick app its model and tools as well. */
export function dependenciesFor(looking: Looking): DependencySource {
  const { catalog, snapshot } = looking;
  return {
    find: async (id) => catalog.find(snapshot, id),
    async dependenciesOf(deployment) {
      // It finds what the key finds that it is sent, which is less than its user may use.
      const caller = { ...looking.caller, chain: { path: [deployment.id] } };
      const matching = await matchingDeployments(deployment, { ...looking, caller });
      return [...declaredDependencies(deployment), ...matching.map(({ id }) => id)];
    },
  };
}

/** Ids that a deployment names as what it calls; of a quick app those of its model and tools as well. */
export function declaredDependencies({ dependencies, quickApp }: Deployment): readonly string[] {
  return quickApp === undefined ? dependencies : [...dependencies, quickApp.model, ...idsOf(quickApp)];
}

/** What a quick app finds of the deployments that it names. */
export interface FoundTools {
  /** Those that it offers its model, each once: they exist, chat, and are open to the caller. */
  readonly deployments: readonly Deployment[];
  /** What it names, as a tool or otherwise, and nothing has as its id. */
  readonly dangling: readonly Dangling[];
}

export async function deploymentsAsTools(application: Deployment, looking: Looking): Promise<FoundTools> {
  const { catalog, snapshot, caller } = looking;
  const tools = application.quickApp === undefined ? [] : idsOf(application.quickApp);
  const ids = [...new Set([...tools, ...application.dependencies])];
  const found = await Promise.all(ids.map(async (id) => ({ id, deployment: await catalog.find(snapshot, id) })));
  const named = found.flatMap(({ id, deployment }) => (deployment !== undefined && tools.includes(id) ? [deployment] : []));
  const all = [
    ...named.filter((deployment) => mayBeTool(deployment, snapshot, caller)),
    ...(await matchingDeployments(application, looking)),
  ];
  return {
    deployments: [...new Map(all.map((deployment) => [deployment.id, deployment])).values()],
    dangling: found
      .filter(({ deployment }) => deployment === undefined)
      .map(({ id }) => ({ deployment: application.id, dependency: id })),
  };
}

function idsOf({ toolsets }: QuickApp): readonly string[] {
  return toolsets.flatMap((toolset) => (toolset.kind === 'deployment' ? [toolset.id] : []));
}

/** Those that meet the conditions; the application itself is none of them. */
async function matchingDeployments(application: Deployment, looking: Looking): Promise<readonly Deployment[]> {
  const { catalog, snapshot, caller } = looking;
  const filters = (application.quickApp?.toolsets ?? []).flatMap((toolset) =>
    toolset.kind === 'deployments' ? [toDeploymentFilter(toolset.conditions)] : [],
  );
  if (filters.length === 0) return [];
  const open = (await catalog.list(snapshot, caller)).filter(
    (found) => mayBeTool(found, snapshot, caller) && found.id !== application.id,
  );
  return open.filter((found) => filters.some((meets) => meets(found)));
}

function mayBeTool(deployment: Deployment, snapshot: ConfigSnapshot, caller: Actor): boolean {
  return deployment.type === 'chat' && mayUse(snapshot, caller, deployment);
}
