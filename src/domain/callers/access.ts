import { toUnsharedMessage } from '#contract/deployment-path.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { adminRole } from '#contract/roles.ts';
import type { ConfigSnapshot } from '../deployments/config-snapshot.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { hasScope } from '../limits/limit-status.ts';
import { isExcludedByKey } from './bound-key.ts';
import { hasForeignApplication } from './call-chain.ts';
import type { Actor, Caller } from './caller.ts';

/** Returns whether a caller may use a deployment: its roles, key, and call chain open it, and no limit denies access. */
export function mayUse({ limits }: ConfigSnapshot, caller: Actor, deployment: Deployment): boolean {
  if (isClosedToApplications(caller, deployment)) return false;
  return canAccess(caller, deployment) && limits.findDenying(caller, deployment.id) === undefined;
}

/** Throws `access_denied` if a caller may not use a deployment. */
export function requireAccess({ limits }: ConfigSnapshot, caller: Actor, deployment: Deployment): void {
  const { id } = deployment;
  if (!canAccess(caller, deployment)) throw createClosedError(caller, deployment);
  if (isClosedToApplications(caller, deployment))
    throw new ParleyError(
      'access_denied',
      `Applications cannot call "${id}", because features.accessibleByPerRequestKey is false.`,
    );
  const limit = limits.findDenying(caller, id);
  if (limit === undefined) return;
  const { kind, period } = limit.window;
  const [holder, possessive] = hasScope(limit) ? [`Your ${limit.scope.kind} does`, 'its'] : ['Your roles do', 'their'];
  const amount = kind === 'calls' ? 'parallel calls' : `${kind} per ${period}`;
  throw new ParleyError(
    'access_denied',
    `${holder} not allow any use of "${id}": ${possessive} limit of ${amount} is 0 or less.`,
  );
}

/**
 * Returns the error for a deployment that the caller may not use. A saved application gets the same error as an unknown ID, so
 * that the error does not reveal which applications exist. An unknown ID has no `ownership`.
 */
export function createClosedError(
  caller: Actor,
  { id, ownership }: Pick<Deployment, 'id'> & Partial<Pick<Deployment, 'ownership'>>,
): ParleyError {
  if (isExcludedByKey(caller, id))
    return new ParleyError('access_denied', `Your key is bound to other deployments than "${id}". Use another key.`);
  const isConfigured = ownership === null;
  return new ParleyError(
    'access_denied',
    isConfigured
      ? `Your roles do not give access to "${id}". Ask the operator of this service for access.`
      : toUnsharedMessage(id),
  );
}

/**
 * Returns whether the roles, the key, and the ownership open a deployment. A saved deployment is open to its owner, and to the
 * roles and users that it lists. If an application of another user is in the call chain, the rights of the owner do not count.
 * The rights of a listed user then count only if the owner of the deployment saved that application too. A configured
 * deployment without roles and users is open to all callers. A key that is bound to deployments opens only these, and their
 * inner calls use the rights of the user.
 */
function canAccess(caller: Actor, { id, userRoles, users, ownership }: Deployment): boolean {
  const { subject, roles } = caller;
  if (isExcludedByKey(caller, id)) return false;
  if (ownership !== null && ownership.owner === subject && !hasForeignApplication(caller)) return true;
  if (users?.includes(subject) && !hasForeignApplication(caller, ownership?.owner)) return true;
  return userRoles === null ? ownership === null && users === null : userRoles.some((role) => roles.includes(role));
}

function isClosedToApplications({ chain }: Actor, { features }: Deployment): boolean {
  return chain !== null && features.accessibleByPerRequestKey === false;
}

/**
 * Returns whether a caller may see the trace of an application. Only callers that may edit it can: the owner of a saved
 * application, and the role `admin` for a configured one. Returns false for a per-request key.
 */
export function canTrace({ chain, subject, roles }: Caller, { ownership }: Deployment): boolean {
  if (chain !== null) return false;
  return ownership === null ? roles.includes(adminRole) : ownership.owner === subject;
}
