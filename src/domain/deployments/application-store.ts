import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import type { Caller } from '../callers/caller.ts';
import type { WriteCondition } from '../files/write-condition.ts';
import type { Ownership } from './deployment.ts';

/** An application that was created through the API (docs/wire.md, Applications). */
export interface StoredApplication extends Ownership {
  /** `applications/<bucket>/<path>`, decoded. The key in the store. */
  readonly id: string;
  /** ID that clients receive, as the owner first spelled it. Undefined if it equals `id`. */
  readonly spelling?: string | undefined;
  /** Entry as written, without defaults but with secrets. The stored form is encrypted. */
  readonly entry: ApplicationEntry;
  /** Changes with every write. Contains no quotes. */
  readonly etag: string;
}

/** The current version or a former version of an application. */
export interface ApplicationVersion {
  /** Number of the version, starting at 1. The highest version is the active one. */
  readonly version: number;
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly savedAtMs: number;
}

export interface ApplicationMove {
  readonly from: string;
  readonly to: string;
  /** Spelling of `to`, as in `StoredApplication`. */
  readonly spelling?: string | undefined;
  readonly replaces: boolean;
  readonly nowMs: number;
  readonly etag: string;
}

/** Page of shared applications, starting after an ID. With `user`, only those that list this user. */
export interface SharedQuery {
  readonly after: string;
  readonly limit: number;
  readonly user?: string | undefined;
}

/** Returns the ID of an application as clients receive it. */
export function toPublicId({ id, spelling }: Pick<StoredApplication, 'id' | 'spelling'>): string {
  return spelling ?? id;
}

/**
 * Port that stores applications of users. Each operation is atomic, and writes are durable after they resolve. A store may
 * return the same object again while an application is unchanged, so do not modify it. Throws `StoreError`.
 */
export interface ApplicationStore {
  find(id: string): Promise<StoredApplication | undefined>;
  /** Returns the existing applications with these IDs, unordered, with one query. */
  findAll(ids: readonly string[]): Promise<readonly StoredApplication[]>;
  /**
   * Writes an application. Retains `createdAtMs`, `owner`, and `spelling` of an existing one, and stores the existing one as a
   * former version. Returns undefined if the condition does not hold.
   */
  put(application: StoredApplication, condition: WriteCondition): Promise<StoredApplication | undefined>;
  /**
   * Changes the ID of an application and keeps its versions and related data. Replaces an application at the destination only
   * if `replaces` is set.
   */
  move(move: ApplicationMove): Promise<'moved' | 'absent' | 'occupied'>;
  /** Deletes an application with all its versions, if the condition holds. */
  delete(id: string, condition: WriteCondition): Promise<'deleted' | 'absent' | 'condition_failed'>;
  /** Returns the applications of one owner, ordered by ID. */
  list(owner: string): Promise<readonly StoredApplication[]>;
  /** Returns the applications that the user owns, or that list the user or one of the roles, ordered by ID. */
  listAccessible(user: Pick<Caller, 'subject' | 'roles'>): Promise<readonly StoredApplication[]>;
  /** Returns applications that list roles or users, ordered by ID. */
  listShared(query: SharedQuery): Promise<readonly StoredApplication[]>;
  /**
   * Returns the versions, newest first. The first is the active one, followed by at most 50 former versions. Returns an empty
   * list if the application does not exist.
   */
  listVersions(id: string): Promise<readonly ApplicationVersion[]>;
  findVersion(id: string, version: number): Promise<StoredApplication | undefined>;
}
