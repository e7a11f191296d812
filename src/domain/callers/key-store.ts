/** A key that a user made, as it is kept: the key itself is not. */
export interface StoredKey {
  readonly id: string;
  /** User subject. */
  readonly owner: string;
  /** The owner's, of the token that the owner signed in with last. */
  readonly project: string;
  readonly roles: readonly string[];
  /** When that token was issued. */
  readonly signedInAtMs: number;
  readonly name: string;
  /** How the key begins. */
  readonly prefix: string;
  /** SHA-256 of the key, in hexadecimal. */
  readonly digest: string;
  /** One more with each rotation. */
  readonly version: number;
  /** The key before the last rotation, and until when it is still taken. */
  readonly former: { readonly digest: string; readonly untilMs: number } | null;
  /** Null: what the owner may. */
  readonly deployments: readonly string[] | null;
  /** Addresses, and networks in CIDR notation; null: any. */
  readonly allowedIps: readonly string[] | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly lastUsedAtMs: number | null;
}

/** One key of one user. */
export interface KeyRef {
  readonly owner: string;
  readonly id: string;
}

/** The keys of one user or of all users after those of a page, latest first. */
export interface KeyPage {
  /** Undefined: of all users. */
  readonly owner: string | undefined;
  readonly beforeMs: number;
  readonly beforeId: string;
  readonly limit: number;
}

/** What takes the place of a key. */
export interface Rotation extends Pick<StoredKey, 'digest' | 'prefix'> {
  readonly atMs: number;
  /** Until when the key before is still taken. */
  readonly formerUntilMs: number;
}

/** What was written since a revision; `deleted` has ids. */
export interface KeyChanges {
  readonly revision: number;
  readonly keys: readonly StoredKey[];
  readonly deleted: readonly string[];
}

/**
 * Port: keys that are made at run time. Whatever is written makes a new revision, whichever node writes it, and is seen in the order of
 * revisions. Throws StoreFault.
 */
export interface KeyStore {
  /** `full`: the owner has so many in force. Lets go of those of the owner that have expired. */
  add(key: StoredKey, maxKeys: number): Promise<'added' | 'full'>;
  /** The newest first; those that have expired among them until another is made. */
  list(owner: string): Promise<readonly StoredKey[]>;
  /** Undefined if none of this place is in force. */
  rotate(ref: KeyRef, rotation: Rotation): Promise<StoredKey | undefined>;
  delete(ref: KeyRef, nowMs: number): Promise<boolean>;
  /** One page of keys for administrators, the latest first. Keys that have expired are among them. */
  page(page: KeyPage): Promise<readonly StoredKey[]>;
  /** Deletes the key of any user. Returns the user, or undefined if there is no such key. */
  revoke(id: string, nowMs: number): Promise<string | undefined>;
  /** The owner signed in with another token: its keys go by that one, but for those that go by a younger one. */
  recordSignIn(owner: string, token: Pick<StoredKey, 'project' | 'roles' | 'signedInAtMs'>): Promise<void>;
  /** When keys were used last, by id. No new revision. */
  recordUses(uses: ReadonlyMap<string, number>): Promise<void>;
  /** -1: all that are there. What was deleted more than a few minutes ago is not told any more. */
  changes(since: number): Promise<KeyChanges>;
}
