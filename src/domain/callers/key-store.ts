/** A key that a user created, as stored. The secret is not stored. */
export interface StoredKey {
  readonly id: string;
  /** User subject. */
  readonly owner: string;
  /** Project from the owner's latest sign-in token. */
  readonly project: string;
  readonly roles: readonly string[];
  /** Time at which the owner's latest sign-in token was issued. */
  readonly signedInAtMs: number;
  readonly name: string;
  /** First characters of the key. */
  readonly prefix: string;
  /** SHA-256 of the key, in hexadecimal. */
  readonly digest: string;
  /** Incremented by each rotation. */
  readonly version: number;
  /** Digest of the key before the last rotation, and the time until which it is accepted. */
  readonly former: { readonly digest: string; readonly untilMs: number } | null;
  /** IDs of the deployments that the key may call directly. Null means all that the owner may call. */
  readonly deployments: readonly string[] | null;
  /** Addresses, and networks in CIDR notation. Null accepts every address. */
  readonly allowedIps: readonly string[] | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly lastUsedAtMs: number | null;
}

/** Reference to one key of one user. */
export interface KeyRef {
  readonly owner: string;
  readonly id: string;
}

/** Selects the keys that follow the last entry of a page, latest first. */
export interface KeyPage {
  /** If undefined, the keys of all users. */
  readonly owner: string | undefined;
  readonly beforeMs: number;
  readonly beforeId: string;
  readonly limit: number;
}

/** Replacement for the secret of a key. */
export interface Rotation extends Pick<StoredKey, 'digest' | 'prefix'> {
  readonly atMs: number;
  /** Time until which the previous key is accepted. */
  readonly formerUntilMs: number;
}

/** Changes since a revision. `deleted` contains IDs. */
export interface KeyUpdates {
  readonly revision: number;
  readonly keys: readonly StoredKey[];
  readonly deleted: readonly string[];
}

/**
 * Port that stores the keys that users create. Each write on any node creates a revision. Readers see writes in the order of
 * revisions. Throws `StoreError`.
 */
export interface KeyStore {
  /** Returns `full` if the owner already has `maxKeys` valid keys. Deletes the owner's expired keys. */
  add(key: StoredKey, maxKeys: number): Promise<'added' | 'full'>;
  /** Returns the keys, newest first. Includes expired keys until the owner adds another key. */
  list(owner: string): Promise<readonly StoredKey[]>;
  /** Returns undefined if the owner has no valid key with this ID. */
  rotate(ref: KeyRef, rotation: Rotation): Promise<StoredKey | undefined>;
  delete(ref: KeyRef, nowMs: number): Promise<boolean>;
  /** Returns one page of keys for administrators, latest first. Includes expired keys. */
  listPage(page: KeyPage): Promise<readonly StoredKey[]>;
  /** Deletes the key of any user. Returns the user, or undefined if the key does not exist. */
  revoke(id: string, nowMs: number): Promise<string | undefined>;
  /** Applies the token of a new sign-in to the owner's keys, except to keys with a newer token. */
  recordSignIn(owner: string, token: Pick<StoredKey, 'project' | 'roles' | 'signedInAtMs'>): Promise<void>;
  /** Records when keys were last used, by ID. Does not create a revision. */
  recordUses(uses: ReadonlyMap<string, number>): Promise<void>;
  /** Returns the changes after revision `since`, or all keys if it is -1. Deletions are included only for a few minutes. */
  readUpdates(since: number): Promise<KeyUpdates>;
}
