import type { Kysely } from 'kysely';
import { isJsonObject } from '#base/json/json.ts';
import type { Seal } from '#base/secrets/seal.ts';
import { isStorableKey } from '#base/text/storable-key.ts';
import type {
  ChatShare,
  ChatSnapshot,
  NewShare,
  OpenedShare,
  ShareBounds,
  SharedFile,
  ShareStore,
} from '#domain/chats/chat-share.ts';
import type { ChatRef } from '#domain/chats/chat-store.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { openSealed, openSealedObject, requireStorable } from '../engine/stored-values.ts';
import type { Schema } from '../schema.ts';
import { findChat, lockOwner } from './chat-rows.ts';
import type { ChatShareRow } from './chat-tables.ts';

/** Snapshots of chats in a table with one sealed row each. A row is found by the hash of its token. */
export class SqlShareStore implements ShareStore {
  readonly #database: SqlDatabase;
  readonly #seal: Seal;

  constructor(database: SqlDatabase, seal: Seal) {
    this.#database = database;
    this.#seal = seal;
  }

  async share(chatRef: ChatRef, share: NewShare, bounds: ShareBounds): Promise<'shared' | 'changed' | 'full'> {
    const { subject } = chatRef;
    const { id, tokenHash, createdAtMs, snapshot } = share;
    requireStorable(subject, chatRef.id, id);
    const { title, ...content } = snapshot;
    const row = {
      ...{ subject, id, chat: chatRef.id, token_hash: tokenHash },
      ...{ created_at_ms: createdAtMs, expires_at_ms: share.expiresAtMs },
      sealed_title: this.#seal.seal(JSON.stringify(title), toShareContext('title', { subject, id })),
      sealed_content: this.#seal.seal(JSON.stringify(content), toShareContext('content', { subject, id })),
    };
    const bytes = row.sealed_title.length + row.sealed_content.length;
    return this.#database.transact(async (transaction) => {
      await deleteExpired(transaction, createdAtMs);
      // Under the owner's lock, a concurrent deletion of the chat waits and then deletes this share too.
      await lockOwner(transaction, subject);
      const chat = await findChat(transaction, chatRef);
      if (chat?.revision !== share.revision) return 'changed';
      const { count, total } = await transaction
        .selectFrom('chat_shares')
        .select(({ fn }) => [fn.countAll<number>().as('count'), fn.sum('bytes').as('total')])
        .where('subject', '=', subject)
        .executeTakeFirstOrThrow();
      if (count >= bounds.maxPerUser || Number(total ?? 0) + bytes > bounds.maxBytesPerUser) return 'full';
      await transaction
        .insertInto('chat_shares')
        .values({ ...row, bytes })
        .execute();
      return 'shared';
    });
  }

  async listShares(subject: string, nowMs: number): Promise<readonly ChatShare[]> {
    const rows = await this.#database.run((kysely) =>
      kysely
        .selectFrom('chat_shares')
        .select(['subject', 'id', 'chat', 'created_at_ms', 'expires_at_ms', 'sealed_title'])
        .where('subject', '=', subject)
        .where('expires_at_ms', '>', nowMs)
        .orderBy('created_at_ms', 'desc')
        .orderBy('id')
        .execute(),
    );
    return rows.map((row) => ({
      ...{ id: row.id, chat: row.chat, createdAtMs: row.created_at_ms, expiresAtMs: row.expires_at_ms },
      title: openTitle(this.#seal, row),
    }));
  }

  async revoke(subject: string, id: string, nowMs: number): Promise<boolean> {
    if (!isStorableKey(id)) return false;
    return this.#database.transact(async (transaction) => {
      await deleteExpired(transaction, nowMs);
      const deletion = transaction.deleteFrom('chat_shares').where('subject', '=', subject).where('id', '=', id);
      return (await deletion.returning('id').execute()).length > 0;
    });
  }

  async openShare(tokenHash: string, nowMs: number): Promise<OpenedShare | undefined> {
    const row = await this.#database.run((kysely) =>
      kysely
        .selectFrom('chat_shares')
        .selectAll()
        .where('token_hash', '=', tokenHash)
        .where('expires_at_ms', '>', nowMs)
        .executeTakeFirst(),
    );
    const snapshot = row && openSnapshot(this.#seal, row);
    if (row === undefined || snapshot === undefined) return undefined;
    return { subject: row.subject, createdAtMs: row.created_at_ms, expiresAtMs: row.expires_at_ms, snapshot };
  }
}

type SealedShare = Pick<ChatShareRow, 'subject' | 'id' | 'sealed_title' | 'sealed_content'>;

function openTitle(seal: Seal, row: Omit<SealedShare, 'sealed_content'>): string {
  return String(openSealed(seal, row.sealed_title, toShareContext('title', row)));
}

/** Decrypts the snapshot of a share. Returns undefined if another version stored it in an unknown form. */
export function openSnapshot(seal: Seal, row: SealedShare): ChatSnapshot | undefined {
  const { deployment, turns, files } = openSealedObject(seal, row.sealed_content, toShareContext('content', row));
  const areFiles = (list: unknown): list is SharedFile[] =>
    Array.isArray(list) && list.every((file) => typeof file?.path === 'string' && typeof file.etag === 'string');
  if (!Array.isArray(turns) || !turns.every(isJsonObject) || !areFiles(files)) return undefined;
  return { title: openTitle(seal, row), deployment: String(deployment), turns, files };
}

/** Deletes the expired shares of all users. */
async function deleteExpired(transaction: Kysely<Schema>, nowMs: number): Promise<void> {
  await transaction.deleteFrom('chat_shares').where('expires_at_ms', '<=', nowMs).execute();
}

/** Returns the seal context of a text in a share. */
export function toShareContext(
  part: 'title' | 'content',
  { subject, id }: { readonly subject: string; readonly id: string },
): string {
  return JSON.stringify([`share ${part}`, subject, id]);
}
