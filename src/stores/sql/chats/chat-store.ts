import { BoundedCache } from '#base/cache/bounded-cache.ts';
import type { Seal } from '#base/secrets/seal.ts';
import { isStorableKey } from '#base/text/storable-key.ts';
import { dayMs } from '#base/time/clock.ts';
import type {
  ChatBounds,
  ChatChange,
  ChatChanges,
  ChatListPage,
  ChatListQuery,
  ChatRef,
  ChatSearchQuery,
  ChatStore,
  ChatWriteOutcome,
  StoredChat,
} from '#domain/chats/chat-store.ts';
import { isMet, type WriteCondition } from '#domain/files/write-condition.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { openSealedObject, requireStorable } from '../engine/stored-values.ts';
import {
  chatStates,
  countTurnBytes,
  dropChats,
  dropDeleted,
  dropTurns,
  findChat,
  findOwner,
  headColumns,
  listRows,
  lockOwner,
  openHead,
  openHeadFields,
  openTurn,
  putTurns,
  selectTurns,
  setOwner,
  toChatContext,
  toCursor,
  toDeleted,
  toTurnRow,
} from './chat-rows.ts';
import { ChatSearch } from './chat-search.ts';
import type { ChatRow } from './chat-tables.ts';
import { type ChatTexts, toChatTextBounds } from './chat-texts.ts';

/** Retention of the row of a deleted chat. A device that syncs later must start again. */
const deletedRetentionMs = 90 * dayMs;
const deleteBatchSize = 500;
const defaultTextBytes = 64 * 1024 ** 2;

/** Stores each chat and each turn in a table row with sealed content. */
export class SqlChatStore implements ChatStore {
  readonly #database: SqlDatabase;
  readonly #seal: Seal;
  readonly #search: ChatSearch;

  /** `texts` caches the chat texts that searches read. */
  constructor(database: SqlDatabase, seal: Seal, texts = new BoundedCache<ChatTexts>(toChatTextBounds(defaultTextBytes))) {
    this.#database = database;
    this.#seal = seal;
    this.#search = new ChatSearch({ database, seal, cache: texts });
  }

  async list(subject: string, query: ChatListQuery): Promise<ChatListPage> {
    const { limit } = query;
    const rows = await this.#database.run((kysely) => listRows(kysely, subject, { ...query, limit: limit + 1 }, headColumns));
    const pageRows = rows.slice(0, limit);
    const last = pageRows.at(-1);
    return {
      chats: pageRows.map((row) => openHead(this.#seal, row)),
      next: rows.length > limit && last !== undefined ? toCursor(last) : undefined,
    };
  }

  search(subject: string, query: ChatSearchQuery): Promise<ChatListPage> {
    return this.#search.find(subject, query);
  }

  async readRevision(subject: string): Promise<number> {
    return (await this.#database.run((kysely) => findOwner(kysely, subject)))?.revision ?? 0;
  }

  async readChanges(subject: string, since: number, limit: number): Promise<ChatChanges> {
    return this.#database.run(async (kysely) => {
      // The order matters: a change between the two reads is reported with the next changes.
      const owner = await findOwner(kysely, subject);
      const latest = owner?.revision ?? 0;
      const isGap = since > latest || (owner !== undefined && since < owner.forgotten_revision);
      if (isGap || since === latest) return { changes: [], revision: latest, hasMore: false, isGap };
      const rows = await kysely
        .selectFrom('chats')
        .select(headColumns)
        .where('subject', '=', subject)
        .where('revision', '>', since)
        .where('revision', '<=', latest)
        .orderBy('revision')
        .limit(limit + 1)
        .execute();
      const pageRows = rows.slice(0, limit);
      const hasMore = rows.length > limit;
      return {
        changes: pageRows.map((row) => (row.shelf === chatStates.deleted ? toDeleted(row) : openHead(this.#seal, row))),
        revision: hasMore ? (pageRows.at(-1)?.revision ?? latest) : latest,
        hasMore,
        isGap,
      };
    });
  }

  async readChat(chatRef: ChatRef, since: number): Promise<StoredChat | undefined> {
    if (!isStorableKey(chatRef.id)) return undefined;
    return this.#database.run(async (kysely) => {
      const row = await findChat(kysely, chatRef);
      if (row === undefined) return undefined;
      const rows = await selectTurns(kysely, chatRef.subject, [chatRef.id]).where('revision', '>', since).execute();
      const turns = rows.map((turn) => openTurn(this.#seal, turn)).filter(({ id }) => typeof id === 'string');
      return {
        head: openHead(this.#seal, row),
        extra: openSealedObject(this.#seal, row.sealed_rest, toChatContext('rest', chatRef)),
        turns: turns.sort((left, right) => Number(left.atMs) - Number(right.atMs)),
      };
    });
  }

  async write(
    chatRef: ChatRef,
    change: ChatChange,
    { condition, maxBytesPerChat, maxBytesPerUser }: ChatBounds & { condition: WriteCondition },
  ): Promise<ChatWriteOutcome> {
    requireStorable(chatRef.subject, chatRef.id);
    return this.#database.transact<ChatWriteOutcome>(async (transaction) => {
      const owner = await lockOwner(transaction, chatRef.subject);
      const stored = await findChat(transaction, chatRef);
      if (!isMet(condition, stored && String(stored.revision))) return { outcome: 'condition_failed' };
      const revision = owner.revision + 1;
      const turns = [...new Map(change.turns.map((turn) => [turn.id, turn])).values()];
      const rows = turns.map((turn) => toTurnRow(this.#seal, chatRef, { turn, revision }));
      const replacedBytes =
        stored === undefined || rows.length === 0 ? 0 : await countTurnBytes(transaction, chatRef, toIds(rows));
      const row = this.#toRow(chatRef, { change, stored, revision });
      const addedBytes =
        rows.reduce((sum, { bytes }) => sum + bytes, 0) - replacedBytes + countSealedBytes(row) - countSealedBytes(stored);
      const bytes = (stored?.bytes ?? 0) + addedBytes;
      if (addedBytes > 0) {
        if (bytes > maxBytesPerChat) return { outcome: 'chat_full' };
        if (owner.bytes + addedBytes > maxBytesPerUser) return { outcome: 'user_full' };
      }
      await putTurns(transaction, rows);
      const storedRow = { ...row, bytes };
      await transaction
        .insertInto('chats')
        .values(storedRow)
        .onConflict((conflict) => conflict.columns(['subject', 'id']).doUpdateSet(storedRow))
        .execute();
      await setOwner(transaction, { ...owner, revision, bytes: owner.bytes + addedBytes });
      return { outcome: 'written', head: openHead(this.#seal, storedRow) };
    });
  }

  async delete(chatRef: ChatRef, condition: WriteCondition, nowMs: number): Promise<'deleted' | 'absent' | 'condition_failed'> {
    if (!isStorableKey(chatRef.id)) return 'absent';
    const { subject, id } = chatRef;
    this.#search.deleteTexts(subject, id);
    return this.#database.transact(async (transaction) => {
      const owner = await lockOwner(transaction, subject);
      const stored = await findChat(transaction, chatRef);
      if (stored === undefined) return 'absent';
      if (!isMet(condition, String(stored.revision))) return 'condition_failed';
      const revision = owner.revision + 1;
      await dropTurns(transaction, subject, [id]);
      await transaction
        .updateTable('chats')
        .set({ revision, shelf: chatStates.deleted, bytes: 0, updated_at_ms: nowMs, sealed_head: '', sealed_rest: '' })
        .where('subject', '=', subject)
        .where('id', '=', id)
        .execute();
      const droppedRevision = await dropDeleted(transaction, subject, nowMs - deletedRetentionMs);
      const forgotten_revision = Math.max(owner.forgotten_revision, droppedRevision);
      await setOwner(transaction, { subject, revision, forgotten_revision, bytes: owner.bytes - stored.bytes });
      return 'deleted';
    });
  }

  async deleteAll(subject: string): Promise<void> {
    if (!isStorableKey(subject)) return;
    this.#search.deleteTexts(subject);
    for (let hasMore = true; hasMore; )
      hasMore = await this.#database.transact(async (transaction) => {
        const owner = await lockOwner(transaction, subject);
        const rows = await transaction
          .selectFrom('chats')
          .select(['id', 'bytes'])
          .where('subject', '=', subject)
          .limit(deleteBatchSize)
          .execute();
        if (rows.length > 0) await dropChats(transaction, subject, toIds(rows));
        const revision = owner.revision + 1;
        const bytes = rows.reduce((remaining, row) => remaining - row.bytes, owner.bytes);
        await setOwner(transaction, { subject, revision, forgotten_revision: revision, bytes });
        return rows.length === deleteBatchSize;
      });
  }

  #toRow(
    chatRef: ChatRef,
    { change, stored, revision }: { change: ChatChange; stored: ChatRow | undefined; revision: number },
  ): Omit<ChatRow, 'bytes'> {
    const fields = stored === undefined ? {} : openHeadFields(this.#seal, stored);
    const extra = stored === undefined ? {} : openSealedObject(this.#seal, stored.sealed_rest, toChatContext('rest', chatRef));
    const isArchived = change.archived ?? stored?.shelf === chatStates.archived;
    const isPinned = change.pinned ?? stored?.shelf === chatStates.pinned;
    const unarchivedState = isPinned ? chatStates.pinned : chatStates.listed;
    return {
      subject: chatRef.subject,
      id: chatRef.id,
      revision,
      shelf: isArchived ? chatStates.archived : unarchivedState,
      updated_at_ms: change.updatedAtMs,
      sealed_head: this.#seal.seal(JSON.stringify({ ...fields, ...change.fields }), toChatContext('chat', chatRef)),
      sealed_rest: this.#seal.seal(JSON.stringify({ ...extra, ...change.extra }), toChatContext('rest', chatRef)),
    };
  }
}

function toIds(rows: readonly { readonly id: string }[]): readonly string[] {
  return rows.map(({ id }) => id);
}

function countSealedBytes(row: Pick<ChatRow, 'sealed_head' | 'sealed_rest'> | undefined): number {
  return row === undefined ? 0 : row.sealed_head.length + row.sealed_rest.length;
}
