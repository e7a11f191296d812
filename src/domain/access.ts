import type { Caller } from './caller.ts';
import type { Deployment } from './deployment.ts';

/** Whether the roles of a caller open a deployment; one that names no roles is open to all. */
export function mayUse(caller: Caller, deployment: Deployment): boolean {
  return deployment.userRoles === null || deployment.userRoles.some((role) => caller.roles.includes(role));
}
