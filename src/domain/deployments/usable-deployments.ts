import { ParleyError } from '#contract/errors.ts';
import { mayUse, requireAccess } from '../callers/access.ts';
import type { Actor } from '../callers/caller.ts';
import type { Catalog } from './catalog.ts';
import type { ConfigSnapshot } from './config-snapshot.ts';
import type { Deployment } from './deployment.ts';

/** Characters of an unknown id that an error repeats. */
const longestId = 200;

/** Where deployments are looked up, and for whom. */
export interface DeploymentLookup {
  readonly catalog: Catalog;
  readonly snapshot: ConfigSnapshot;
  readonly caller: Actor;
}

type IsWanted = (deployment: Deployment) => boolean;

/**
 * The deployment of an id, at once if it is of the configuration; an id that cannot be one is undefined. Throws
 * `deployment_not_found` for one that does not exist or is not wanted, `access_denied` for one that the caller may not use.
 * Rejects with these or with StoreFault.
 */
export function findUsable(
  lookup: DeploymentLookup,
  id: string | undefined,
  isWanted: IsWanted = () => true,
): Deployment | Promise<Deployment> {
  const checked = (deployment: Deployment | undefined): Deployment => {
    if (deployment === undefined || !isWanted(deployment)) throw deploymentNotFound(id);
    requireAccess(lookup.snapshot, lookup.caller, deployment);
    return deployment;
  };
  const found = id === undefined ? undefined : lookup.catalog.find(lookup.snapshot, id);
  return found instanceof Promise ? found.then(checked) : checked(found);
}

/** All wanted deployments that the caller may use. Rejects with StoreFault. */
export async function listUsable(lookup: DeploymentLookup, isWanted: IsWanted): Promise<readonly Deployment[]> {
  const { catalog, snapshot, caller } = lookup;
  const all = await catalog.list(snapshot, caller);
  return all.filter((deployment) => isWanted(deployment) && mayUse(snapshot, caller, deployment));
}

/** The error for an id that is of no deployment; undefined for a text that cannot be an id. */
export function deploymentNotFound(id: string | undefined): ParleyError {
  const claim =
    id === undefined ? 'The path names no deployment that could exist' : `There is no deployment ${id.slice(0, longestId)}`;
  return new ParleyError('deployment_not_found', `${claim}; GET /v1/models lists yours.`);
}
