import { mayUse } from '../callers/access.ts';
import type { Dangling, DependencySource } from '../consent/dependency-graph.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { type DeploymentLookup, listUsable } from '../deployments/usable-deployments.ts';
import type { QuickApp } from './quick-app.ts';

/** What a deployment calls: the dependencies it declares; of a quick app its model and tools as well. */
export function createDependencySource(lookup: DeploymentLookup): DependencySource {
  const { snapshot } = lookup;
  // Every quick app in a graph finds its tools in the same list.
  let listPromise: ReturnType<DeploymentLookup['catalog']['list']> | undefined;
  const catalog: DeploymentLookup['catalog'] = {
    find: (...args) => lookup.catalog.find(...args),
    findAll: (...args) => lookup.catalog.findAll(...args),
    list(...args) {
      listPromise ??= lookup.catalog.list(...args);
      return listPromise;
    },
  };
  return {
    findAll: (ids) => catalog.findAll(snapshot, ids),
    async listDependencies(deployment) {
      // It finds what the key finds that it is sent, which is less than its user may use.
      const caller = { ...lookup.caller, chain: { path: [deployment.id] } };
      const matching = await findMatchingDeployments(deployment, { ...lookup, catalog, caller });
      return [...listDeclaredDependencies(deployment), ...matching.map(({ id }) => id)];
    },
  };
}

/** Ids that a deployment names as what it calls; of a quick app those of its model and tools as well. */
export function listDeclaredDependencies({ dependencies, quickApp }: Deployment): readonly string[] {
  return quickApp === undefined ? dependencies : [...dependencies, quickApp.model, ...listToolIds(quickApp)];
}

/** What a quick app finds of the deployments that it names. */
export interface DeploymentTools {
  /** Those that it offers its model, each once: they exist, chat, and are open to the caller. */
  readonly deployments: readonly Deployment[];
  /** What it names, as a tool or otherwise, and nothing has as its id. */
  readonly dangling: readonly Dangling[];
}

export async function findDeploymentTools(application: Deployment, lookup: DeploymentLookup): Promise<DeploymentTools> {
  const { catalog, snapshot, caller } = lookup;
  const tools = application.quickApp === undefined ? [] : listToolIds(application.quickApp);
  const deploymentsById = await catalog.findAll(snapshot, [...tools, ...application.dependencies]);
  const namedDeployments = tools.flatMap((id) => deploymentsById.get(id) ?? []);
  const all = [
    ...namedDeployments.filter((deployment) => deployment.type === 'chat' && mayUse(snapshot, caller, deployment)),
    ...(await findMatchingDeployments(application, lookup)),
  ];
  return {
    deployments: [...new Map(all.map((deployment) => [deployment.id, deployment])).values()],
    dangling: [...deploymentsById].flatMap(([id, deployment]) =>
      deployment === undefined ? [{ deployment: application.id, dependency: id }] : [],
    ),
  };
}

function listToolIds({ toolsets }: QuickApp): readonly string[] {
  return toolsets.flatMap((toolset) => (toolset.kind === 'deployment' ? [toolset.id] : []));
}

/** Those that meet the conditions; the application itself is none of them. */
async function findMatchingDeployments(application: Deployment, lookup: DeploymentLookup): Promise<readonly Deployment[]> {
  const filter = application.quickApp?.filter;
  if (filter === undefined) return [];
  const usable = await listUsable(
    lookup,
    ({ id, type, issue }) => type === 'chat' && issue === undefined && id !== application.id,
  );
  return filter.find(usable);
}
