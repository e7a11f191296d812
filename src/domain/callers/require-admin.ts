import { ParleyError } from '#contract/errors.ts';
import { adminRole } from '#contract/roles.ts';
import type { Caller } from './caller.ts';
import { requireOwn } from './require-own.ts';

/** Throws `access_denied` where a caller does not administer: lacks the role, or holds it only through a per-request key. */
export function requireAdmin(caller: Caller): void {
  requireOwn(caller, 'administer');
  if (caller.roles.includes(adminRole)) return;
  throw new ParleyError('access_denied', `This is open to the role ${adminRole}, which your key or token does not have.`);
}
