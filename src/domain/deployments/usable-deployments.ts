import { ParleyError } from '#contract/errors/errors.ts';
import { mayUse, requireAccess } from '../callers/access.ts';
import type { Actor } from '../callers/caller.ts';
import type { Catalog } from './catalog.ts';
import type { ConfigSnapshot } from './config-snapshot.ts';
import type { Deployment } from './deployment.ts';

/** Characters of an unknown id that an error repeats. */
const maxIdChars = 200;

/** Where deployments are looked up, and for whom. */
export interface DeploymentLookup {
  readonly catalog: Pick<Catalog, 'find' | 'findAll' | 'list'>;
  readonly snapshot: ConfigSnapshot;
  readonly caller: Actor;
}

type DeploymentPredicate = (deployment: Deployment) => boolean;

/**
 * The deployment of an id; an id that cannot be one is undefined. Rejects with `deployment_not_found` for one that does not
 * exist or is not wanted, `access_denied` for one that the caller may not use, or StoreFault.
 */
export async function findUsable(
  lookup: DeploymentLookup,
  id: string | undefined,
  matches?: DeploymentPredicate,
): Promise<Deployment> {
  const { catalog, snapshot, caller } = lookup;
  const deployment = id === undefined ? undefined : await catalog.find(snapshot, id);
  if (deployment === undefined || matches?.(deployment) === false) throw deploymentNotFound(id);
  requireAccess(snapshot, caller, deployment);
  return deployment;
}

/** All wanted deployments that the caller may use. Rejects with StoreFault. */
export async function listUsable(lookup: DeploymentLookup, matches: DeploymentPredicate): Promise<readonly Deployment[]> {
  const { catalog, snapshot, caller } = lookup;
  const all = await catalog.list(snapshot, caller);
  return all.filter((deployment) => matches(deployment) && mayUse(snapshot, caller, deployment));
}

/** The error for an id that is of no deployment; undefined for a text that cannot be an id. */
export function deploymentNotFound(id: string | undefined): ParleyError {
  const claim =
    id === undefined ? 'The path names no deployment that could exist' : `There is no deployment ${id.slice(0, maxIdChars)}`;
  return new ParleyError('deployment_not_found', `${claim}; GET /v1/models lists yours.`);
}
