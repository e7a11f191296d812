import { ParleyError } from '#contract/errors.ts';
import type { Caller } from './caller.ts';

/**
 * Throws `access_denied` if a caller holds a per-request key: an application may not consent, change applications or
 * administer for the user it answers (docs/wire.md, Credentials). Neither may who holds a key that its user bound to some
 * deployments: it would reach all others that way. `what` names what is refused, as in "give consent".
 */
export function requireOwn({ chain, madeKey }: Pick<Caller, 'chain' | 'madeKey'>, what: string): void {
  if (chain === null && (madeKey?.deployments ?? null) !== null)
    throw new ParleyError(
      'access_denied',
      `A key that is bound to deployments cannot ${what}; send one that is not, or your token.`,
    );
  if (chain === null) return;
  throw new ParleyError('access_denied', `A per-request key cannot ${what}; send a key or token of your own.`);
}
