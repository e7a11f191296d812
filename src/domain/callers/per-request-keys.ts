import { hash } from 'node:crypto';
import { ParleyError } from '#contract/errors/errors.ts';
import type { Caller } from './caller.ts';

/** Port that issues keys that are valid during one call (docs/write-an-application.md, Per-request keys). */
export interface PerRequestKeys {
  /** Issues a key for a call to an application. The key identifies this caller. Throws `StoreError`. */
  issue(caller: Caller): Promise<string>;
  /** Invalidates the key. Never fails: if the store is unavailable, the key ends when the store is available again. */
  revoke(key: string): Promise<void>;
  /** Returns undefined unless the key belongs to a call in progress. Throws `StoreError`. */
  find(key: string): Promise<Caller | undefined>;
}

/** Returns the digest of a key. Stores contain only digests, so that lookup times do not reveal keys. */
export function toKeyDigest(key: string): string {
  return hash('sha256', key, 'base64url');
}

/**
 * Throws `access_denied` for a per-request key. An application may not give consent, change applications, or administer on
 * behalf of its user (docs/write-an-application.md, Per-request keys). `action` is a verb phrase, such as "give consent".
 */
export function rejectPerRequestKey({ chain }: Pick<Caller, 'chain'>, action: string): void {
  if (chain === null) return;
  throw new ParleyError('access_denied', `A per-request key cannot ${action}. Send your own key or token.`);
}
