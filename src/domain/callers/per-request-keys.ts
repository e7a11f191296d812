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
