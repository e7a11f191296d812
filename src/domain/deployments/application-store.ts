import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import type { Caller } from '../callers/caller.ts';
import type { WriteCondition } from '../files/write-condition.ts';
import type { Ownership } from './deployment.ts';

/** An application made through the API (docs/wire.md, Applications). */
export interface StoredApplication extends Ownership {
  /** `applications/<bucket>/<path>`, decoded: what it is kept under. */
  readonly id: string;
  /** The id that callers are told, as its maker spelled it first; absent where that is `id`. */
  readonly spelling?: string | undefined;
  /** As it was written, without defaults but with its secrets; at rest it is encrypted. */
  readonly entry: ApplicationEntry;
  /** Another after each change; without quotes. */
  readonly etag: string;
}

/** One of the forms that an application had, or has. */
export interface ApplicationVersion {
  /** Counted from 1; the highest is the one in force. */
  readonly version: number;
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly savedAtMs: number;
}

export interface ApplicationMove {
  readonly from: string;
  readonly to: string;
  /** Of `to`, as in a stored application. */
  readonly spelling?: string | undefined;
  readonly replaces: boolean;
  readonly nowMs: number;
  /** The new one. */
  readonly etag: string;
}

/** The id of an application as callers are told it. */
export function toPublicId({ id, spelling }: Pick<StoredApplication, 'id' | 'spelling'>): string {
  return spelling ?? id;
}

/**
 * Port: applications made by users. Each step is atomic; writes are durable once they resolve. What is given may be given again
 * as long as it is as it was: nobody changes it. Throws StoreFault.
 */
export interface ApplicationStore {
  find(id: string): Promise<StoredApplication | undefined>;
  /** Those of the IDs that exist, in no order, in one query. */
  findAll(ids: readonly string[]): Promise<readonly StoredApplication[]>;
  /**
   * Keeps `createdAtMs`, `owner` and `spelling` of the one that is there, and the one that is there as a former version; undefined if
   * the condition does not hold.
   */
  put(application: StoredApplication, condition: WriteCondition): Promise<StoredApplication | undefined>;
  /** Gives an application another id, with its versions and all else that it had, in the place of what is there if `replaces`. */
  move(move: ApplicationMove): Promise<'moved' | 'absent' | 'occupied'>;
  /** With all its versions. Whether it happened: `condition` may not hold, or there may be none. */
  delete(id: string, condition: WriteCondition): Promise<'deleted' | 'absent' | 'condition_failed'>;
  /** Those of one owner, ordered by id. */
  list(owner: string): Promise<readonly StoredApplication[]>;
  /** Those that a user made, and those that name one of the roles; ordered by id. */
  listOpen(user: Pick<Caller, 'subject' | 'roles'>): Promise<readonly StoredApplication[]>;
  /** The newest first, which is the one in force; of the former ones the last 50 at most. None if there is no application. */
  versions(id: string): Promise<readonly ApplicationVersion[]>;
  /** An application as it was in one of its versions. */
  findVersion(id: string, version: number): Promise<StoredApplication | undefined>;
}
