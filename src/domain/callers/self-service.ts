import type { SelfService } from '#contract/configuration/access.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import { defaultRole } from '#contract/roles.ts';
import type { Caller } from './caller.ts';
import { requireOwn } from './require-own.ts';

/**
 * What the bearer of these roles may make of keys, the most generous of each; undefined: nothing. A role that is not configured
 * stands for `default`; one that is has this right only if it says so itself.
 */
export function selfServiceOf(roles: Configuration['roles'], held: readonly string[]): SelfService | undefined {
  let most: SelfService | undefined;
  for (const role of held.length > 0 ? held : [defaultRole]) {
    const { selfService } = (Object.hasOwn(roles, role) ? roles[role] : roles[defaultRole]) ?? {};
    if (selfService === undefined) continue;
    const { keys, maxDays } = selfService;
    most = { keys: Math.max(most?.keys ?? 0, keys), maxDays: Math.max(most?.maxDays ?? 0, maxDays) };
  }
  return most;
}

/** Whether any role of a configuration lets its users make keys. */
export function offersKeys({ roles }: Pick<Configuration, 'roles'>): boolean {
  return Object.values(roles).some(({ selfService }) => selfService !== undefined);
}

/** Whether a caller signed in itself: it shows a token, not a key. */
export function isSignedIn({ chain, madeKey, signedInAtMs }: Caller): boolean {
  return chain === null && madeKey === undefined && signedInAtMs !== undefined;
}

/** Throws `access_denied` with what would help, if a caller is no user who signed in. */
export function requireSignedIn(caller: Caller): void {
  requireOwn(caller, 'make or manage keys');
  if (caller.madeKey !== undefined)
    throw denied('A key that a user made cannot make or manage keys; sign in, and send your token.');
  if (!isSignedIn(caller))
    throw denied(
      'Keys of their own are for users who sign in with an identity provider; send the token of one. Further keys of a project are given out by those who run this service.',
    );
}

/** What a caller may make of keys. Throws `access_denied` with what would help, if it may not have any. */
export function requireSelfService({ roles }: Pick<Configuration, 'roles'>, caller: Caller): SelfService {
  requireSignedIn(caller);
  const right = selfServiceOf(roles, caller.roles);
  if (right !== undefined) return right;
  throw denied(
    `None of your roles (${caller.roles.join(', ')}) lets you have keys of your own; ask those who run this service, who can set roles.<name>.selfService.`,
  );
}

function denied(message: string): ParleyError {
  return new ParleyError('access_denied', message);
}
