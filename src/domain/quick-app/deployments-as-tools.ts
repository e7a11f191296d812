import { mayUse } from '../callers/access.ts';
import type { DependencyEdge, DependencySource } from '../consent/dependency-graph.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { type DeploymentLookup, listUsable } from '../deployments/usable-deployments.ts';
import type { QuickApp } from './quick-app.ts';

/**
 * Creates a source of dependencies. They are the dependencies that a deployment declares, the model and tools of a quick app, and
 * the deployments that match the filter of a quick app.
 */
export function createDependencySource(lookup: DeploymentLookup): DependencySource {
  const { snapshot } = lookup;
  // All quick apps in a graph share one list of deployments.
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
    async findAll(ids) {
      const found = await catalog.findAll(snapshot, ids);
      // The caller cannot call these saved applications, and the form must not reveal that they exist.
      const isHidden = (deployment: Deployment | undefined): boolean =>
        deployment !== undefined && deployment.ownership !== null && !mayUse(snapshot, lookup.caller, deployment);
      return new Map([...found].map(([id, deployment]) => [id, isHidden(deployment) ? null : deployment]));
    },
    async listDependencies(deployment) {
      // A quick app can use only deployments that are open to its per-request key, which may be fewer than those of its user.
      const caller = { ...lookup.caller, chain: { path: [deployment.id] } };
      const matching = await findMatchingDeployments(deployment, { ...lookup, catalog, caller });
      return [...listDeclaredDependencies(deployment), ...matching.map(({ id }) => id)];
    },
  };
}

/** Returns the IDs of the declared dependencies. Those of a quick app include its model and tools. */
export function listDeclaredDependencies({ dependencies, quickApp }: Deployment): readonly string[] {
  return quickApp === undefined ? dependencies : [...dependencies, quickApp.model, ...listToolIds(quickApp)];
}

/** Deployments that a quick app uses as tools. */
export interface DeploymentTools {
  /** Unique deployments to offer to the model. They exist, support chat, and are open to the caller. */
  readonly deployments: readonly Deployment[];
  /** IDs of tools or dependencies that do not exist. */
  readonly dangling: readonly DependencyEdge[];
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

/** Returns the usable chat deployments that match the filter of the quick app, without the application itself. */
async function findMatchingDeployments(application: Deployment, lookup: DeploymentLookup): Promise<readonly Deployment[]> {
  const filter = application.quickApp?.filter;
  if (filter === undefined) return [];
  const usable = await listUsable(
    lookup,
    ({ id, type, issue }) => type === 'chat' && issue === undefined && id !== application.id,
  );
  return filter.find(usable);
}
