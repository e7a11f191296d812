import type { Configuration } from '#contract/configuration/configuration.ts';
import { defaultRole } from '#contract/roles.ts';

/** Returns whether calls with these roles wait until no interactive call waits: whether every role has the priority `batch`. */
export function isBatchCaller(roles: Configuration['roles'], heldRoles: readonly string[]): boolean {
  const fallback = roles[defaultRole]?.priority;
  const ownRoles = heldRoles.length > 0 ? heldRoles : [defaultRole];
  return ownRoles.every((role) => ((Object.hasOwn(roles, role) ? roles[role]?.priority : undefined) ?? fallback) === 'batch');
}
