import type { SelfService } from '#contract/configuration/access.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { defaultRole } from '#contract/roles.ts';
import type { Caller } from './caller.ts';
import { rejectPerRequestKey } from './per-request-keys.ts';

/**
 * Returns the maximum number and lifetime of keys that these roles allow, each from the most generous role, or undefined if
 * they allow no keys. An unknown role falls back to `default`. A configured role does not inherit this right.
 */
export function findSelfService(roles: Configuration['roles'], heldRoles: readonly string[]): SelfService | undefined {
  let best: SelfService | undefined;
  for (const role of heldRoles.length > 0 ? heldRoles : [defaultRole]) {
    const { selfService } = (Object.hasOwn(roles, role) ? roles[role] : roles[defaultRole]) ?? {};
    if (selfService === undefined) continue;
    const { keys, maxDays } = selfService;
    best = { keys: Math.max(best?.keys ?? 0, keys), maxDays: Math.max(best?.maxDays ?? 0, maxDays) };
  }
  return best;
}

/** Returns whether any role of a configuration allows its users to create keys. */
export function hasSelfService({ roles }: Pick<Configuration, 'roles'>): boolean {
  return Object.values(roles).some(({ selfService }) => selfService !== undefined);
}

/** Returns whether a caller signed in directly, with a token instead of a key. */
export function isSignedIn({ chain, userKey, signedInAtMs }: Caller): boolean {
  return chain === null && userKey === undefined && signedInAtMs !== undefined;
}

/** Throws `access_denied` with a suggestion if the caller is not a signed-in user. */
export function requireSignedIn(caller: Caller): void {
  rejectPerRequestKey(caller, 'create or manage keys');
  if (caller.userKey !== undefined)
    throw createAccessDenied('A key that a user created cannot create or manage keys. Sign in, and send your token.');
  if (!isSignedIn(caller))
    throw createAccessDenied(
      'Only users who sign in with an identity provider can create keys. Send the token of such a user. For another project key, ask the operator of this service.',
    );
}

/**
 * Returns the maximum number and lifetime of keys that a caller may create. Throws `access_denied` with a suggestion if it may
 * not create any.
 */
export function requireSelfService({ roles }: Pick<Configuration, 'roles'>, caller: Caller): SelfService {
  requireSignedIn(caller);
  const right = findSelfService(roles, caller.roles);
  if (right !== undefined) return right;
  throw createAccessDenied(
    `Your roles (${caller.roles.join(', ')}) do not allow you to create keys. Ask the operator of this service to set roles.<name>.selfService.`,
  );
}

function createAccessDenied(message: string): ParleyError {
  return new ParleyError('access_denied', message);
}
