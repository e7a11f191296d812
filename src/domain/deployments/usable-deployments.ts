import { ParleyError } from '#contract/errors/errors.ts';
import { createClosedError, mayUse, requireAccess } from '../callers/access.ts';
import { hasForeignApplication } from '../callers/call-chain.ts';
import type { Actor } from '../callers/caller.ts';
import { toBucket } from '../files/bucket.ts';
import { applicationPrefix } from './application-location.ts';
import type { Catalog } from './catalog.ts';
import type { ConfigSnapshot } from './config-snapshot.ts';
import type { Deployment } from './deployment.ts';

/** Maximum number of characters of an unknown ID in an error message. */
const maxIdChars = 200;

/** Catalog, configuration, and caller for a lookup. */
export interface DeploymentLookup {
  readonly catalog: Pick<Catalog, 'find' | 'findAll' | 'list'>;
  readonly snapshot: ConfigSnapshot;
  readonly caller: Actor;
}

type DeploymentPredicate = (deployment: Deployment) => boolean;

/**
 * Finds a deployment by ID. An undefined `id` means that the client's text is not a valid ID. Rejects with
 * `deployment_not_found` if the deployment does not exist or does not match, `access_denied` if the caller may not use it or if it
 * would be an application of another user, or `StoreError`.
 */
export async function findUsable(
  lookup: DeploymentLookup,
  id: string | undefined,
  matches?: DeploymentPredicate,
): Promise<Deployment> {
  const { catalog, snapshot, caller } = lookup;
  const deployment = id === undefined ? undefined : await catalog.find(snapshot, id);
  if (deployment === undefined)
    throw id !== undefined && isHidden(caller, id) ? createClosedError(caller, { id }) : createDeploymentNotFoundError(id);
  const isMatch = matches?.(deployment) !== false;
  // The access to a saved application is checked first, so that no other error reveals that it exists.
  if (isMatch || deployment.ownership !== null) requireAccess(snapshot, caller, deployment);
  if (!isMatch) throw createDeploymentNotFoundError(id);
  return deployment;
}

/**
 * Returns whether the existence of an application with this ID must stay hidden from the caller, unless it is shared with the
 * caller.
 */
function isHidden(caller: Actor, id: string): boolean {
  if (!id.startsWith(applicationPrefix)) return false;
  return hasForeignApplication(caller) || !id.startsWith(`${applicationPrefix}${toBucket(caller.subject)}/`);
}

/** Returns all matching deployments that the caller may use. Rejects with `StoreError`. */
export async function listUsable(lookup: DeploymentLookup, matches: DeploymentPredicate): Promise<readonly Deployment[]> {
  const { catalog, snapshot, caller } = lookup;
  const all = await catalog.list(snapshot, caller);
  return all.filter((deployment) => matches(deployment) && mayUse(snapshot, caller, deployment));
}

/** Returns the error for an unknown deployment. An undefined `id` means that the client's text is not a valid ID. */
export function createDeploymentNotFoundError(id: string | undefined): ParleyError {
  const claim =
    id === undefined ? 'The path does not contain a valid deployment ID' : `There is no deployment ${id.slice(0, maxIdChars)}`;
  return new ParleyError('deployment_not_found', `${claim}. GET /v1/models lists yours.`);
}
