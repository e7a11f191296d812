import { ParleyError } from '#contract/errors/errors.ts';
import type { Caller } from './caller.ts';

/**
 * Throws `access_denied` if a caller holds a per-request key: an application may not consent, change applications or
 * administer for the user it answers (docs/write-an-application.md, Per-request keys). `what` names what is refused, as in "give consent".
 */
export function requireOwn({ chain }: Pick<Caller, 'chain'>, action: string): void {
  if (chain === null) return;
  throw new ParleyError('access_denied', `A per-request key cannot ${action}; send a key or token of your own.`);
}
