import type { Caller } from './caller.ts';

/** Port: the keys that live as long as the call they were made for (contract 4). */
export interface PerRequestKeys {
  /** Makes a key for a call that reaches an application; whoever presents it is this caller. */
  issue(caller: Caller): Promise<string>;
  /** Ends it; whoever presents it from now on is unknown. */
  revoke(key: string): Promise<void>;
  find(key: string): Promise<Caller | undefined>;
}
