import { ParleyError } from '#contract/errors/errors.ts';

/** A user whom an administrator blocked. */
export interface BlockedUser {
  /** User subject. */
  readonly user: string;
  /** Note of the administrator. Users do not see it. */
  readonly reason: string | null;
  readonly blockedAtMs: number;
  /** User subject of the administrator. */
  readonly blockedBy: string;
}

/** Selects blocked users that follow the last entry of a page, latest first. */
export interface BlockedUserPage {
  readonly beforeMs: number;
  readonly beforeUser: string;
  readonly limit: number;
}

/** Blocked users with their revision. Without `users`, they did not change. */
export interface BlockedUserUpdates {
  readonly revision: number;
  readonly users: readonly string[] | undefined;
  /** The `users` that provisioning blocked. Tokens can contain their names in another letter case. */
  readonly provisioned?: readonly string[];
}

/** Port that stores blocked users. Each write creates a revision. Throws `StoreError`. */
export interface BlockedUserStore {
  /** Replaces the entry of a user who is already blocked. */
  put(blocked: BlockedUser): Promise<'added' | 'replaced'>;
  /** Returns whether the user was blocked. */
  delete(user: string): Promise<boolean>;
  /** Returns one page, latest first. */
  list(page: BlockedUserPage): Promise<readonly BlockedUser[]>;
  /** Returns all blocked users, or no users if the revision is still `since`. */
  readUpdates(since: number): Promise<BlockedUserUpdates>;
}

/** Returns the error for a request, or for a call in progress, of a blocked user. */
export function createUserBlockedError(): ParleyError {
  return new ParleyError(
    'user_blocked',
    'An administrator blocked your user. Ask the administrator of this service to unblock it.',
  );
}
