import { type Kysely, sql } from 'kysely';
import type { ChatCursor, ChatListQuery } from '#domain/chats/chat-store.ts';
import type { Schema } from '../schema.ts';
import { chatStates, type headColumns } from './chat-rows.ts';
import type { ChatRow } from './chat-tables.ts';

/** Columns that a search reads for every chat. */
export const searchColumns = ['id', 'revision', 'shelf', 'updated_at_ms', 'bytes'] as const;
export type SearchRow = Pick<ChatRow, (typeof searchColumns)[number]>;

type ListColumns = typeof headColumns | typeof searchColumns;

/** Returns the cursor of the list after a row. */
export function toCursor({ shelf, updated_at_ms, id }: Pick<ChatRow, 'shelf' | 'updated_at_ms' | 'id'>): ChatCursor {
  return { shelf, updatedAtMs: updated_at_ms, id };
}

/** Lists pinned chats first. Within each state, the latest chats come first. */
export async function listRows<Columns extends ListColumns>(
  kysely: Kysely<Schema>,
  subject: string,
  { limit, archived, after }: ChatListQuery,
  columns: Columns,
): Promise<readonly Pick<ChatRow, Columns[number]>[]> {
  const allShelves: readonly number[] = archived ? [chatStates.archived] : [chatStates.pinned, chatStates.listed];
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

/** A complete list at a revision of its user. */
export interface ChatListing {
  readonly revision: number;
  readonly rows: readonly SearchRow[];
}

/** Maximum number of changed rows for updating a list. With more, it is read again. */
const maxChanged = 500;

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
    .limit(maxChanged + 1)
    .execute();
  if (changed.length > maxChanged) return undefined;
  const ids = new Set(changed.map(({ id }) => id));
  const isListed = ({ shelf }: SearchRow): boolean =>
    archived ? shelf === chatStates.archived : shelf === chatStates.pinned || shelf === chatStates.listed;
  return [...listing.rows.filter(({ id }) => !ids.has(id)), ...changed.filter(isListed)].sort(byPosition);
}

/** Compares rows in the order of `listRows`. */
function byPosition(left: SearchRow, right: SearchRow): number {
  if (left.shelf !== right.shelf) return left.shelf === chatStates.pinned ? -1 : 1;
  return right.updated_at_ms - left.updated_at_ms || (left.id < right.id ? 1 : -1);
}
