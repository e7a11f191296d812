import { type DescribedDeployment, meetConditions } from '#contract/quick-app/meet-conditions.ts';
import { mayUse } from '../callers/access.ts';
import type { Dangling, DependencySource } from '../consent/dependency-graph.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { type DeploymentLookup, listUsable } from '../deployments/usable-deployments.ts';
import type { QuickApp } from './quick-app.ts';

/** What a deployment calls: the dependencies it declares; of a quick app its model and tools as well. */
export function dependenciesFor(lookup: DeploymentLookup): DependencySource {
  const { catalog, snapshot } = lookup;
  return {
    find: async (id) => catalog.find(snapshot, id),
    async dependenciesOf(deployment) {
      // It finds what the key finds that it is sent, which is less than its user may use.
      const caller = { ...lookup.caller, chain: { path: [deployment.id] } };
      const matching = await matchingDeployments(deployment, { ...lookup, caller });
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

export async function deploymentsAsTools(application: Deployment, lookup: DeploymentLookup): Promise<FoundTools> {
  const { catalog, snapshot, caller } = lookup;
  const tools = application.quickApp === undefined ? [] : idsOf(application.quickApp);
  const ids = [...new Set([...tools, ...application.dependencies])];
  const found = await Promise.all(ids.map(async (id) => ({ id, deployment: await catalog.find(snapshot, id) })));
  const named = found.flatMap(({ id, deployment }) => (deployment !== undefined && tools.includes(id) ? [deployment] : []));
  const all = [
    ...named.filter((deployment) => deployment.type === 'chat' && mayUse(snapshot, caller, deployment)),
    ...(await matchingDeployments(application, lookup)),
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
async function matchingDeployments(application: Deployment, lookup: DeploymentLookup): Promise<readonly Deployment[]> {
  const filters = (application.quickApp?.toolsets ?? []).flatMap((toolset) =>
    toolset.kind === 'deployments' ? [meetConditions(toolset.conditions)] : [],
  );
  if (filters.length === 0) return [];
  const open = await listUsable(lookup, ({ id, type, issue }) => type === 'chat' && issue === undefined && id !== application.id);
  return open.filter((found) => filters.some((meets) => meets(toDescribed(found))));
}

function toDescribed({ id, kind, displayName = id, description = '' }: Deployment): DescribedDeployment {
  return { id, displayName, description, isApplication: kind === 'application' };
}
