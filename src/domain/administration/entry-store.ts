import type { JsonObject } from '#base/json/json.ts';
import type { EntryKind } from '#contract/administration/entry-kinds.ts';

/** Identifies an entry that was created at run time. */
export interface EntryRef {
  readonly kind: EntryKind;
  readonly id: string;
}

export interface RuntimeEntry extends EntryRef {
  /** Revision of the last change. It is unique among all changes. */
  readonly revision: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** The entry as in the configuration, with its secrets. A key has a digest instead. */
  readonly value: JsonObject;
  /** First characters of a key that Parley created. Undefined for other entries. */
  readonly keyPrefix?: string;
}

/** A new value of an entry. */
export interface EntryWrite extends EntryRef {
  /** Undefined if the entry does not exist before the change. */
  readonly before: RuntimeEntry | undefined;
  /** Undefined deletes the entry. */
  readonly after: Pick<RuntimeEntry, 'value' | 'keyPrefix'> | undefined;
}

export interface EntryChange {
  readonly id: string;
  readonly atMs: number;
  /** Subject of the administrator. */
  readonly author: string;
  readonly action: 'saved' | 'deleted' | 'applied' | 'rotated' | 'reset' | 'rolled_back';
  /** ID of the change that this change undoes. */
  readonly undoes?: string;
  readonly writes: readonly EntryWrite[];
  /** SHA-256 digests of the secrets that keys accept before the change but not afterward. They never become valid again. */
  readonly revokedDigests?: readonly string[];
}

/** A change that is in force, with its revision. All its entries had this revision afterward. */
export interface CommittedChange extends EntryChange {
  readonly revision: number;
}

/** Configuration files that are in force on all nodes. */
export interface StoredFiles {
  /** Identifies the content without revealing it. */
  readonly digest: string;
  /** Complete configuration as JSON, with its secrets. Undefined if it was sealed with another secret. */
  readonly text: string | undefined;
}

export interface EntryUpdates {
  /** Latest revision. 0 before the first change. */
  readonly revision: number;
  /** Entries that changed since the requested revision. */
  readonly entries: readonly RuntimeEntry[];
  readonly deleted: readonly EntryRef[];
  /** Present if the files changed since the requested revision. */
  readonly files?: StoredFiles;
}

/** A change in a list. `writes` has its first writes. */
export interface ListedChange extends CommittedChange {
  readonly writeCount: number;
}

/** A page of changes, newest first. */
export interface ChangePage {
  readonly changes: readonly ListedChange[];
  /** `beforeRevision` of the next page. Null after the last page. */
  readonly nextRevision: number | null;
}

/** Entries that administrators create at run time, with the history of their changes. Each method throws `StoreError`. */
export interface EntryStore {
  /** Returns the changes after a revision. -1 returns all entries. */
  readUpdates(since: number): Promise<EntryUpdates>;
  /** Stores a change if `revision` is still the latest revision. Otherwise, returns `conflict` and stores nothing. */
  commit(revision: number, change: EntryChange): Promise<number | 'conflict'>;
  /** Replaces the files of all nodes if `revision` is still the latest revision. Otherwise, returns `conflict`. */
  commitFiles(revision: number, files: { readonly digest: string; readonly text: string }): Promise<number | 'conflict'>;
  /** Returns a digest of configuration files. It does not reveal their content. */
  digestFiles(text: string): string;
  /** Returns those of the SHA-256 digests that an earlier change revoked. */
  findRevoked(digests: readonly string[]): Promise<readonly string[]>;
  /**
   * `beforeRevision` excludes that revision and later ones. Each change has at most 20 writes. A page has fewer changes than
   * `limit` if the changes are large.
   */
  listChanges(page: { readonly beforeRevision: number; readonly limit: number }): Promise<ChangePage>;
  findChange(id: string): Promise<CommittedChange | undefined>;
}
