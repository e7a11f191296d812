import { type Kysely, sql } from 'kysely';
import { isStorableKey } from '#base/text/storable-key.ts';
import type { BlockedUser, BlockedUserPage, BlockedUserStore, BlockedUserUpdates } from '#domain/callers/blocked-users.ts';
import { scimAuthor } from '#domain/scim/scim-store.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { requireStorable } from '../engine/stored-values.ts';
import type { Schema } from '../schema.ts';

/** Blocked users in a table with one row each. */
export class SqlBlockedUserStore implements BlockedUserStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  put({ user, reason, blockedAtMs, blockedBy }: BlockedUser): Promise<'added' | 'replaced'> {
    requireStorable(user, blockedBy);
    const fields = { reason, blocked_at_ms: blockedAtMs, blocked_by: blockedBy };
    return this.#database.transact(async (transaction) => {
      await raiseUsersRevision(transaction);
      const replaced = await transaction
        .updateTable('blocked_users')
        .set(fields)
        .where('subject', '=', user)
        .returning('subject')
        .execute();
      if (replaced.length > 0) return 'replaced';
      await transaction
        .insertInto('blocked_users')
        .values({ subject: user, ...fields })
        .execute();
      return 'added';
    });
  }

  async delete(user: string): Promise<boolean> {
    if (!isStorableKey(user)) return false;
    return this.#database.transact(async (transaction) => {
      await raiseUsersRevision(transaction);
      const deleted = await transaction.deleteFrom('blocked_users').where('subject', '=', user).returning('subject').execute();
      return deleted.length > 0;
    });
  }

  async list({ beforeMs, beforeUser, limit }: BlockedUserPage): Promise<readonly BlockedUser[]> {
    return this.#database.run((kysely) =>
      kysely
        .selectFrom('blocked_users')
        .select(['subject as user', 'reason', 'blocked_at_ms as blockedAtMs', 'blocked_by as blockedBy'])
        .$if(Number.isFinite(beforeMs), (query) =>
          query.where(sql<boolean>`(blocked_at_ms, subject) < (${beforeMs}, ${beforeUser})`),
        )
        .orderBy('blocked_at_ms', 'desc')
        .orderBy('subject', 'desc')
        .limit(limit)
        .execute(),
    );
  }

  /** Reads the revision first, so that the next call reads a write between the two reads again. */
  readUpdates(since: number): Promise<BlockedUserUpdates> {
    return this.#database.run(async (kysely) => {
      const { users_revision: revision } = await kysely
        .selectFrom('api_key_changes')
        .select('users_revision')
        .executeTakeFirstOrThrow();
      if (revision === since) return { revision, users: undefined };
      const rows = await kysely.selectFrom('blocked_users').select(['subject', 'blocked_by']).execute();
      const provisioned = rows.filter((row) => row.blocked_by === scimAuthor);
      return { revision, users: rows.map(({ subject }) => subject), provisioned: provisioned.map(({ subject }) => subject) };
    });
  }
}

/** Raises the revision of blocked users. Takes the row's lock, so that concurrent writes queue here. */
export async function raiseUsersRevision(transaction: Kysely<Schema>): Promise<void> {
  await transaction
    .updateTable('api_key_changes')
    .set(({ eb }) => ({ users_revision: eb('users_revision', '+', 1) }))
    .execute();
}
