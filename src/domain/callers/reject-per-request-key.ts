import { ParleyError } from '#contract/errors/errors.ts';
import type { Caller } from './caller.ts';

/**
 * Throws `access_denied` for a per-request key. An application may not give consent, change applications, or administer on
 * behalf of its user (docs/write-an-application.md, Per-request keys). `action` is a verb phrase, such as "give consent".
 */
export function rejectPerRequestKey({ chain }: Pick<Caller, 'chain'>, action: string): void {
  if (chain === null) return;
  throw new ParleyError('access_denied', `A per-request key cannot ${action}. Send your own key or token.`);
}
