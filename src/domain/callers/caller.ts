import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { Claim } from '../limits/limit-store.ts';
import type { HeldRights } from './held-rights.ts';

/** Who sends a call: a key's project or a user, with what the chain of calls behind it hands on (docs/wire.md, Credentials). */
export interface Caller {
  /** The JWT's user claim, else `key:<project>`; through a per-request key that of the one who started the chain. */
  readonly subject: string;
  readonly project: string;
  readonly roles: readonly string[];
  /** Null if the caller holds a key or token of its own; else the chain its per-request key belongs to. */
  readonly chain: Chain | null;
  /** Of a user who shows a token of an identity provider: when that was issued. */
  readonly signedInAtMs?: number;
  /** The key that the user made and that stands for it, also of the calls that follow from it. */
  readonly userKey?: UserKey;
  /** The key of a configuration file, if its entry has `deployments` or `expiresAt`. Inner calls keep it. */
  readonly configuredKey?: ConfiguredKey;
}

/** Restrictions of a key of a configuration file that apply while its calls are in progress. */
export interface ConfiguredKey {
  /** The same after a reload. An entry with a name keeps it when its secret changes. */
  readonly id: string;
  /** IDs of the deployments that the key calls itself. Null: all that its roles open. */
  readonly deployments: readonly string[] | null;
  /** Milliseconds since the epoch. Null: the key does not expire. */
  readonly expiresAtMs: number | null;
}

/** What is to be known of a key that a user made as long as something goes on that it began. */
export interface UserKey {
  readonly id: string;
  /** One more with each rotation. */
  readonly version: number;
  /** The ids that it may call itself; null: what its user may. */
  readonly deployments: readonly string[] | null;
}

/** What decides of a caller which deployments it may use. */
export interface Actor extends Pick<Caller, 'subject' | 'roles' | 'userKey' | 'configuredKey'> {
  readonly chain: Pick<Chain, 'path'> | null;
}

/** What a per-request key hands on: the way from the root to the application that holds it. */
export interface Chain {
  /** Ids from the root to the application that holds the key, in order; at least one. */
  readonly path: readonly string[];
  /** To stored files and the like, such as those named in the requests on the way. */
  readonly rights: HeldRights;
  /** What is reserved for the calls on the way: it does not stand in the way of those made with the key. Absent: nothing. */
  readonly claims?: readonly Claim[];
  /** Called with the tokens of each call made with the key; they have reached the one who made the key once it resolves. Never fails. */
  readonly report: (usage: readonly ModelUsage[]) => void | Promise<void>;
  /** Called if a call made with the key is refused for what its user may or did: what becomes of that is no fault of the application. Absent on other nodes than the one that made the key. */
  readonly onRefusal?: () => void;
}
