import { BoundedCache } from '#base/cache/bounded-cache.ts';
import type { Seal } from '#base/secrets/seal.ts';
import type {
  ChatBounds,
  ChatChange,
  ChatChanges,
  ChatListPage,
  ChatListQuery,
  ChatPlace,
  ChatSearchQuery,
  ChatStore,
  ChatWritten,
  StoredChat,
} from '#domain/chats/chat-store.ts';
import { isStorableKey } from '#domain/deployments/storable-key.ts';
import { isMet, type WriteCondition } from '#domain/files/write-condition.ts';
import { requireStorable } from '../engine/read-entry.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { openSealedObject } from '../open-sealed.ts';
import { listRows, toMark } from './chat-pages.ts';
import {
  bytesOfTurns,
  dropChats,
  dropTurns,
  findChat,
  findOwner,
  forgetDeleted,
  headColumns,
  lockOwner,
  openTurn,
  putTurns,
  setOwner,
  shelves,
  toDeleted,
  toHead,
  toSealPlace,
  toTurnRow,
} from './chat-rows.ts';
import type { ChatRow } from './chat-schema.ts';
import { ChatSearch } from './chat-search.ts';
import { type ChatTexts, chatTextBounds } from './chat-texts.ts';

/** How long a deleted chat has a row that says so: a device that comes later begins anew. */
const toldMs = 90 * 24 * 60 * 60 * 1000;
const deletedAtOnce = 500;
const usualTextBytes = 64 * 1024 ** 2;

/** Chats and their turns, a row each, sealed. */
export class SqlChatStore implements ChatStore {
  readonly #database: SqlDatabase;
  readonly #seal: Seal;
  readonly #search: ChatSearch;

  /** `texts`: where what a search has read is kept. */
  constructor(database: SqlDatabase, seal: Seal, texts = new BoundedCache<ChatTexts>(chatTextBounds(usualTextBytes))) {
    this.#database = database;
    this.#seal = seal;
    this.#search = new ChatSearch({ database, seal, kept: texts });
  }

  async list(subject: string, query: ChatListQuery): Promise<ChatListPage> {
    const { limit } = query;
    const rows = await this.#database.run((kysely) => listRows(kysely, subject, { ...query, limit: limit + 1 }, headColumns));
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    return {
      heads: shown.map((row) => toHead(this.#seal, row)),
      next: rows.length > limit && last !== undefined ? toMark(last) : undefined,
    };
  }

  search(subject: string, query: ChatSearchQuery): Promise<ChatListPage> {
    return this.#search.find(subject, query);
  }

  async revision(subject: string): Promise<number> {
    return (await this.#database.run((kysely) => findOwner(kysely, subject)))?.revision ?? 0;
  }

  async changes(subject: string, since: number, limit: number): Promise<ChatChanges> {
    return this.#database.run(async (kysely) => {
      // In this order: what is written between the two looks is told with the next ones.
      const owner = await findOwner(kysely, subject);
      const latest = owner?.revision ?? 0;
      if (since > latest || (owner !== undefined && since < owner.forgotten_revision))
        return { changes: [], revision: latest, hasMore: false, isGap: true };
      if (since === latest) return { changes: [], revision: latest, hasMore: false, isGap: false };
      const rows = await kysely
        .selectFrom('chats')
        .select(headColumns)
        .where('subject', '=', subject)
        .where('revision', '>', since)
        .where('revision', '<=', latest)
        .orderBy('revision')
        .limit(limit + 1)
        .execute();
      const told = rows.slice(0, limit);
      const hasMore = rows.length > limit;
      return {
        changes: told.map((row) => (row.shelf === shelves.deleted ? toDeleted(row) : toHead(this.#seal, row))),
        revision: hasMore ? (told.at(-1)?.revision ?? latest) : latest,
        ...{ hasMore, isGap: false },
      };
    });
  }

  async read(place: ChatPlace, since: number): Promise<StoredChat | undefined> {
    if (!isStorableKey(place.id)) return undefined;
    return this.#database.run(async (kysely) => {
      const row = await findChat(kysely, place);
      if (row === undefined) return undefined;
      const rows = await kysely
        .selectFrom('chat_turns')
        .select(['subject', 'chat', 'id', 'sealed_turn'])
        .where('subject', '=', place.subject)
        .where('chat', '=', place.id)
        .where('revision', '>', since)
        .execute();
      const turns = rows.map((turn) => openTurn(this.#seal, turn)).filter(({ id }) => typeof id === 'string');
      return {
        head: toHead(this.#seal, row),
        rest: openSealedObject(this.#seal, row.sealed_rest, toSealPlace('rest', place)),
        turns: turns.sort((one, other) => Number(one.atMs) - Number(other.atMs)),
      };
    });
  }

  async write(
    place: ChatPlace,
    change: ChatChange,
    { condition, maxBytesPerChat, maxBytesPerUser }: ChatBounds & { condition: WriteCondition },
  ): Promise<ChatWritten> {
    requireStorable(place.subject, place.id);
    return this.#database.transact<ChatWritten>(async (transaction) => {
      const owner = await lockOwner(transaction, place.subject);
      const there = await findChat(transaction, place);
      if (!isMet(condition, there && String(there.revision))) return { outcome: 'condition_failed' };
      const revision = owner.revision + 1;
      const turns = [...new Map(change.turns.map((turn) => [turn.id, turn])).values()];
      const rows = turns.map((turn) => toTurnRow(this.#seal, place, { turn, revision }));
      const replaced = there === undefined || rows.length === 0 ? 0 : await bytesOfTurns(transaction, place, toIds(rows));
      const row = this.#toRow(place, { change, there, revision });
      const grown = rows.reduce((sum, { bytes }) => sum + bytes, 0) - replaced + sealedBytes(row) - sealedBytes(there);
      const bytes = (there?.bytes ?? 0) + grown;
      if (bytes > maxBytesPerChat) return { outcome: 'chat_full' };
      if (owner.bytes + grown > maxBytesPerUser) return { outcome: 'user_full' };
      await putTurns(transaction, rows);
      const written = { ...row, bytes };
      await transaction
        .insertInto('chats')
        .values(written)
        .onConflict((same) => same.columns(['subject', 'id']).doUpdateSet(written))
        .execute();
      await setOwner(transaction, { ...owner, revision, bytes: owner.bytes + grown });
      return { outcome: 'written', head: toHead(this.#seal, written) };
    });
  }

  async delete(place: ChatPlace, condition: WriteCondition, nowMs: number): Promise<'deleted' | 'absent' | 'condition_failed'> {
    if (!isStorableKey(place.id)) return 'absent';
    const { subject, id } = place;
    this.#search.forget(subject, id);
    return this.#database.transact(async (transaction) => {
      const owner = await lockOwner(transaction, subject);
      const there = await findChat(transaction, place);
      if (there === undefined) return 'absent';
      if (!isMet(condition, String(there.revision))) return 'condition_failed';
      const revision = owner.revision + 1;
      await dropTurns(transaction, subject, [id]);
      await transaction
        .updateTable('chats')
        .set({ revision, shelf: shelves.deleted, bytes: 0, updated_at_ms: nowMs, sealed_head: '', sealed_rest: '' })
        .where('subject', '=', subject)
        .where('id', '=', id)
        .execute();
      const forgotten = await forgetDeleted(transaction, subject, nowMs - toldMs);
      const forgotten_revision = Math.max(owner.forgotten_revision, forgotten);
      await setOwner(transaction, { subject, revision, forgotten_revision, bytes: owner.bytes - there.bytes });
      return 'deleted';
    });
  }

  async deleteAll(subject: string): Promise<void> {
    if (!isStorableKey(subject)) return;
    this.#search.forget(subject);
    for (let isMore = true; isMore; )
      isMore = await this.#database.transact(async (transaction) => {
        const owner = await lockOwner(transaction, subject);
        const rows = await transaction
          .selectFrom('chats')
          .select(['id', 'bytes'])
          .where('subject', '=', subject)
          .limit(deletedAtOnce)
          .execute();
        if (rows.length > 0) await dropChats(transaction, subject, toIds(rows));
        const revision = owner.revision + 1;
        const bytes = rows.reduce((left, row) => left - row.bytes, owner.bytes);
        await setOwner(transaction, { subject, revision, forgotten_revision: revision, bytes });
        return rows.length === deletedAtOnce;
      });
  }

  #toRow(
    place: ChatPlace,
    { change, there, revision }: { change: ChatChange; there: ChatRow | undefined; revision: number },
  ): Omit<ChatRow, 'bytes'> {
    const fields = there === undefined ? {} : toHead(this.#seal, there).fields;
    const rest = there === undefined ? {} : openSealedObject(this.#seal, there.sealed_rest, toSealPlace('rest', place));
    const isArchived = change.archived ?? there?.shelf === shelves.archived;
    const isPinned = change.pinned ?? there?.shelf === shelves.pinned;
    const shown = isPinned ? shelves.pinned : shelves.listed;
    return {
      subject: place.subject,
      id: place.id,
      revision,
      shelf: isArchived ? shelves.archived : shown,
      updated_at_ms: change.updatedAtMs,
      sealed_head: this.#seal.seal(JSON.stringify({ ...fields, ...change.fields }), toSealPlace('chat', place)),
      sealed_rest: this.#seal.seal(JSON.stringify({ ...rest, ...change.rest }), toSealPlace('rest', place)),
    };
  }
}

function toIds(rows: readonly { readonly id: string }[]): readonly string[] {
  return rows.map(({ id }) => id);
}

function sealedBytes(row: Pick<ChatRow, 'sealed_head' | 'sealed_rest'> | undefined): number {
  return row === undefined ? 0 : row.sealed_head.length + row.sealed_rest.length;
}
