import { type Kysely, sql } from 'kysely';
import type { JsonObject } from '#base/json/json.ts';
import type { Seal } from '#base/secrets/seal.ts';
import { splitIntoBatches } from '#base/stream/batches.ts';
import type { ChatTurn } from '#contract/page/stored-chat.ts';
import type { ChatCursor, ChatHead, ChatListQuery, ChatRef, DeletedChat } from '#domain/chats/chat-store.ts';
import { openSealedObject } from '../engine/stored-values.ts';
import type { Schema } from '../schema.ts';
import type { ChatOwnerRow, ChatRow, ChatTurnRow } from './chat-tables.ts';

/** Values of the column `shelf`. A deleted chat keeps its row for a while, so that other devices of the user read the deletion. */
export const chatStates = { listed: 0, pinned: 1, archived: 2, deleted: 3 } as const;

export const headColumns = ['subject', 'id', 'revision', 'shelf', 'updated_at_ms', 'sealed_head'] as const;
export type HeadRow = Pick<ChatRow, (typeof headColumns)[number]>;
const turnColumns = ['subject', 'chat', 'id', 'sealed_turn'] as const;
type SealedTurn = Pick<ChatTurnRow, (typeof turnColumns)[number]>;

const rowsPerStatement = 500;

export function openHead(seal: Seal, row: HeadRow): ChatHead {
  return toHead(row, openHeadFields(seal, row));
}

export function openHeadFields(seal: Seal, row: ChatRef & Pick<ChatRow, 'sealed_head'>): JsonObject {
  return openSealedObject(seal, row.sealed_head, toChatContext('chat', row));
}

export function toHead({ id, revision, updated_at_ms, shelf }: SearchRow | HeadRow, fields: JsonObject): ChatHead {
  const [pinned, archived] = [shelf === chatStates.pinned, shelf === chatStates.archived];
  return { id, revision, updatedAtMs: updated_at_ms, pinned, archived, fields };
}

export function toDeleted({ id, revision }: HeadRow): DeletedChat {
  return { id, revision, deleted: true };
}

/** Returns the seal context of a text in a chat. */
export function toChatContext(part: 'chat' | 'rest', { subject, id }: ChatRef): string {
  return JSON.stringify([part, subject, id]);
}

/** Returns the seal context of a turn. */
export function toTurnContext({ subject, chat, id }: Pick<ChatTurnRow, 'subject' | 'chat' | 'id'>): string {
  return JSON.stringify(['turn', subject, chat, id]);
}

/** Selects sealed turns of chats. The caller adds conditions and the order. */
export function selectTurns(kysely: Kysely<Schema>, subject: string, chats: readonly string[]) {
  return kysely.selectFrom('chat_turns').select(turnColumns).where('subject', '=', subject).where('chat', 'in', chats);
}

export function openTurn(seal: Seal, row: SealedTurn): JsonObject {
  return openSealedObject(seal, row.sealed_turn, toTurnContext(row));
}

export function toTurnRow(
  seal: Seal,
  { subject, id: chat }: ChatRef,
  { turn, revision }: { turn: ChatTurn; revision: number },
): ChatTurnRow {
  const { id } = turn;
  const sealed_turn = seal.seal(JSON.stringify(turn), toTurnContext({ subject, chat, id }));
  return { subject, chat, id, revision, bytes: sealed_turn.length, sealed_turn };
}

/** Returns the counters of a user, or undefined before the first write. */
export function findOwner(kysely: Kysely<Schema>, subject: string): Promise<ChatOwnerRow | undefined> {
  return kysely.selectFrom('chat_owners').selectAll().where('subject', '=', subject).executeTakeFirst();
}

/** Returns the counters of a user and locks them, so that no other transaction writes chats of the user until this one ends. */
export async function lockOwner(transaction: Kysely<Schema>, subject: string): Promise<ChatOwnerRow> {
  return transaction
    .insertInto('chat_owners')
    .values({ subject, revision: 0, forgotten_revision: 0, bytes: 0 })
    .onConflict((conflict) => conflict.column('subject').doUpdateSet(({ ref }) => ({ revision: ref('chat_owners.revision') })))
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function setOwner(transaction: Kysely<Schema>, { subject, ...counters }: ChatOwnerRow): Promise<void> {
  await transaction.updateTable('chat_owners').set(counters).where('subject', '=', subject).execute();
}

/** Returns the total bytes of the turns of a chat with these IDs. */
export async function countTurnBytes(kysely: Kysely<Schema>, chatRef: ChatRef, ids: readonly string[]): Promise<number> {
  const { bytes } = await kysely
    .selectFrom('chat_turns')
    .select(({ fn }) => fn.sum<number | string | null>('bytes').as('bytes'))
    .where('subject', '=', chatRef.subject)
    .where('chat', '=', chatRef.id)
    .where('id', 'in', ids)
    .executeTakeFirstOrThrow();
  return Number(bytes ?? 0);
}

/** Inserts turns, and replaces those with the same IDs. */
export async function putTurns(transaction: Kysely<Schema>, rows: readonly ChatTurnRow[]): Promise<void> {
  for (const batch of splitIntoBatches(rows, rowsPerStatement))
    await transaction
      .insertInto('chat_turns')
      .values(batch)
      .onConflict((conflict) =>
        conflict.columns(['subject', 'chat', 'id']).doUpdateSet(({ ref }) => ({
          revision: ref('excluded.revision'),
          bytes: ref('excluded.bytes'),
          sealed_turn: ref('excluded.sealed_turn'),
        })),
      )
      .execute();
}

/** Returns a chat unless it is deleted. */
export function findChat(kysely: Kysely<Schema>, { subject, id }: ChatRef): Promise<ChatRow | undefined> {
  return kysely
    .selectFrom('chats')
    .selectAll()
    .where('subject', '=', subject)
    .where('id', '=', id)
    .where('shelf', '<>', chatStates.deleted)
    .executeTakeFirst();
}

/** Deletes chats of a user with all their turns and shares. Keeps no row that reports the deletion to other devices. */
export async function dropChats(transaction: Kysely<Schema>, subject: string, ids: readonly string[]): Promise<void> {
  await dropTurns(transaction, subject, ids);
  await transaction.deleteFrom('chats').where('subject', '=', subject).where('id', 'in', ids).execute();
}

/** Deletes the turns and shares of chats. */
export async function dropTurns(transaction: Kysely<Schema>, subject: string, chats: readonly string[]): Promise<void> {
  await transaction.deleteFrom('chat_turns').where('subject', '=', subject).where('chat', 'in', chats).execute();
  await transaction.deleteFrom('chat_shares').where('subject', '=', subject).where('chat', 'in', chats).execute();
}

/** Deletes the rows of chats that were deleted before `beforeMs`. Returns the latest revision among them, or 0. */
export async function dropDeleted(transaction: Kysely<Schema>, subject: string, beforeMs: number): Promise<number> {
  const deleted = await transaction
    .deleteFrom('chats')
    .where('subject', '=', subject)
    .where('shelf', '=', chatStates.deleted)
    .where('updated_at_ms', '<', beforeMs)
    .returning('revision')
    .execute();
  return Math.max(0, ...deleted.map(({ revision }) => revision));
}

/** Columns that a search reads for every chat. */
export const searchColumns = ['id', 'revision', 'shelf', 'updated_at_ms', 'bytes'] as const;
export type SearchRow = Pick<ChatRow, (typeof searchColumns)[number]>;

type ListColumns = typeof headColumns | typeof searchColumns;

/** Returns the cursor of the list after a row. */
export function toCursor({ shelf, updated_at_ms, id }: Pick<ChatRow, 'shelf' | 'updated_at_ms' | 'id'>): ChatCursor {
  return { shelf, updatedAtMs: updated_at_ms, id };
}

/** Lists the archived chats, or the pinned chats and then the remaining ones. In each state, the last updated chats come first. */
export async function listRows<Columns extends ListColumns>(
  kysely: Kysely<Schema>,
  subject: string,
  { limit, archived, after }: ChatListQuery,
  columns: Columns,
): Promise<readonly Pick<ChatRow, Columns[number]>[]> {
  const allShelves = listShelves(archived);
  const remainingShelves = after === undefined ? allShelves : allShelves.slice(Math.max(allShelves.indexOf(after.shelf), 0));
  const rows: Pick<ChatRow, Columns[number]>[] = [];
  for (const shelf of remainingShelves) {
    if (rows.length >= limit) break;
    const shelfQuery = kysely.selectFrom('chats').where('subject', '=', subject).where('shelf', '=', shelf);
    const isAfterCursor = sql<boolean>`(updated_at_ms, id) < (${after?.updatedAtMs ?? 0}, ${after?.id ?? ''})`;
    const query = after?.shelf === shelf ? shelfQuery.where(isAfterCursor) : shelfQuery;
    const ordered = query
      .orderBy('updated_at_ms', 'desc')
      .orderBy('id', 'desc')
      .limit(limit - rows.length);
    rows.push(...((await ordered.select(columns as readonly (keyof ChatRow)[]).execute()) as typeof rows));
  }
  return rows;
}

/** Returns the values of `shelf` in a list, in the order of the list. */
function listShelves(archived: boolean): readonly number[] {
  return archived ? [chatStates.archived] : [chatStates.pinned, chatStates.listed];
}

/** A complete list of chats, and the revision of their user when it was read. */
export interface ChatListing {
  readonly revision: number;
  readonly rows: readonly SearchRow[];
}

/** Maximum number of changed rows for updating a list. With more, it is read again. */
const maxChangedRows = 500;

/** Returns the current rows of an earlier list, or undefined if too many rows changed and the list must be read again. */
export async function updateListing(
  kysely: Kysely<Schema>,
  subject: string,
  { listing, archived }: { readonly listing: ChatListing; readonly archived: boolean },
): Promise<readonly SearchRow[] | undefined> {
  const changed = await kysely
    .selectFrom('chats')
    .where('subject', '=', subject)
    .where('revision', '>', listing.revision)
    .select(searchColumns)
    .orderBy('revision')
    .limit(maxChangedRows + 1)
    .execute();
  if (changed.length > maxChangedRows) return undefined;
  const ids = new Set(changed.map(({ id }) => id));
  const shelves = listShelves(archived);
  const added = changed.filter(({ shelf }) => shelves.includes(shelf));
  return [...listing.rows.filter(({ id }) => !ids.has(id)), ...added].sort(comparePositions);
}

/** Compares rows in the order of `listRows`. */
function comparePositions(left: SearchRow, right: SearchRow): number {
  if (left.shelf !== right.shelf) return left.shelf === chatStates.pinned ? -1 : 1;
  return right.updated_at_ms - left.updated_at_ms || (left.id < right.id ? 1 : -1);
}
