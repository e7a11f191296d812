import type { Caller } from './caller.ts';

/** Port: the keys that live as long as the call they were made for (docs/write-an-application.md, Per-request keys). */
export interface PerRequestKeys {
  /** Makes a key for a call that reaches an application; whoever presents it is this caller. Throws StoreFault. */
  issue(caller: Caller): Promise<string>;
  /** Ends it; whoever presents it from now on is unknown. Never fails: if the store is away, the key ends when it is back. */
  revoke(key: string): Promise<void>;
  /** Undefined for anything that is no key of a call under way. Throws StoreFault. */
  find(key: string): Promise<Caller | undefined>;
}
