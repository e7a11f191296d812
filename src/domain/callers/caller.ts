import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { Tags } from '#contract/tags.ts';
import type { Claim } from '../limits/limit-store.ts';
import type { HeldRights } from './held-rights.ts';

/** Identity of a request: the project of a key or a user, and the call chain that led here (docs/wire.md, Credentials). */
export interface Caller {
  /** User claim of the JWT, or `key:<project>`. For a per-request key, the subject at the root of the chain. */
  readonly subject: string;
  readonly project: string;
  readonly roles: readonly string[];
  /** Call chain of a per-request key. Null if the caller uses its own key or token. */
  readonly chain: Chain | null;
  /** Time at which the identity provider issued the user's token. Undefined without such a token. */
  readonly signedInAtMs?: number;
  /** Key that the user created and that identifies the caller. Inner calls keep it. */
  readonly userKey?: UserKey;
  /** Key of the configuration. Inner calls keep it. Undefined for tokens, keys of users, and callers that older nodes stored. */
  readonly configuredKey?: ConfiguredKey;
}

/** How other users see the user of a token. */
export interface Profile {
  readonly name: string | null;
  /** Verified e-mail address. */
  readonly address: string | null;
}

/** A key of the configuration, with the restrictions that apply while its calls are in progress. */
export interface ConfiguredKey {
  /** Does not change on a reload. A named entry keeps its ID when its secret changes. */
  readonly id: string;
  /** Start of the digest of the secret, which differs after a rotation. Undefined if an older node stored the caller. */
  readonly secretId?: string;
  /** Name of the entry, for usage records. Undefined if the name is the secret. */
  readonly name?: string;
  /** IDs of the deployments that the key may call directly. Null means all that its roles open. */
  readonly deployments: readonly string[] | null;
  /** Milliseconds since the epoch. Null means that the key does not expire. */
  readonly expiresAtMs: number | null;
}

/** Properties of a user's key that matter while its calls or background work are in progress. */
export interface UserKey {
  readonly id: string;
  /** Incremented by each rotation. */
  readonly version: number;
  /** IDs of the deployments that the key may call directly. Null means all that its user may call. */
  readonly deployments: readonly string[] | null;
}

/** Part of a caller that determines which deployments it may use. */
export interface Actor extends Pick<Caller, 'subject' | 'project' | 'roles' | 'userKey' | 'configuredKey'> {
  readonly chain: Pick<Chain, 'path'> | null;
}

/** State that a per-request key carries: the path from the root to the application that holds it, and its rights. */
export interface Chain {
  /** IDs from the root to the application that holds the key, in order. At least one. */
  readonly path: readonly string[];
  /** Rights to stored resources, such as files that requests on the path reference. */
  readonly rights: HeldRights;
  /** Tags of the call at the root of the chain. */
  readonly tags?: Tags;
  /** Whether the content of calls made with the key must not be recorded. */
  readonly isPrivate?: boolean;
  /** Reservations of the calls on the path. They do not block calls made with the key. */
  readonly claims?: readonly Claim[];
  /**
   * Called with the tokens of each call made with the key. Resolves after the issuer of the key has received them. Never fails.
   */
  readonly report: (usage: readonly ModelUsage[]) => void | Promise<void>;
  /**
   * Called if a call made with the key is rejected because of the user. Failures that follow are not errors of the application.
   * Undefined on nodes other than the one that issued the key.
   */
  readonly onRejection?: () => void;
}
