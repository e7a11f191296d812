import { ParleyError } from '#contract/errors/errors.ts';

/** A user whom an administrator blocked. */
export interface BlockedUser {
  /** User subject. */
  readonly user: string;
  /** The note of the administrator. Users do not see it. */
  readonly reason: string | null;
  readonly blockedAtMs: number;
  /** User subject of the administrator. */
  readonly blockedBy: string;
}

/** The blocked users after the ones of a page, latest first. */
export interface BlockedUserPage {
  readonly beforeMs: number;
  readonly beforeUser: string;
  readonly limit: number;
}

/** Port: the users that administrators blocked. Each write makes a new revision. Throws StoreFault. */
export interface BlockedUserStore {
  /** Replaces the block of a user who is blocked already. */
  put(blocked: BlockedUser): Promise<'added' | 'replaced'>;
  /** Returns whether the user was blocked. */
  delete(user: string): Promise<boolean>;
  /** The latest first. */
  list(page: BlockedUserPage): Promise<readonly BlockedUser[]>;
  /** All blocked users, or undefined if the revision is still `since`. */
  changes(since: number): Promise<{ readonly revision: number; readonly users: readonly string[] | undefined }>;
}

/** The error of a request, or of a call in progress, whose user is blocked. */
export function userBlocked(): ParleyError {
  return new ParleyError(
    'user_blocked',
    'An administrator blocked your user. Ask the administrator of this service to unblock it.',
  );
}
