import { type Kysely, sql } from 'kysely';
import type { ChatListQuery, ChatMark } from '#domain/chats/chat-store.ts';
import type { Schema } from '../schema.ts';
import { type headColumns, shelves } from './chat-rows.ts';
import type { ChatRow } from './chat-schema.ts';

/** What a search looks at of every chat. */
export const lookedColumns = ['id', 'revision', 'shelf', 'updated_at_ms', 'bytes'] as const;
export type LookedRow = Pick<ChatRow, (typeof lookedColumns)[number]>;

type Listed = typeof headColumns | typeof lookedColumns;

/** Where a list goes on behind a row. */
export function toMark({ shelf, updated_at_ms, id }: Pick<ChatRow, 'shelf' | 'updated_at_ms' | 'id'>): ChatMark {
  return { shelf, updatedAtMs: updated_at_ms, id };
}

/** The pinned ones first, each shelf with the latest first. */
export async function listRows<Columns extends Listed>(
  kysely: Kysely<Schema>,
  subject: string,
  { limit, archived, after }: ChatListQuery,
  columns: Columns,
): Promise<readonly Pick<ChatRow, Columns[number]>[]> {
  const all: readonly number[] = archived ? [shelves.archived] : [shelves.pinned, shelves.listed];
  const wanted = after === undefined ? all : all.slice(Math.max(all.indexOf(after.shelf), 0));
  const rows: Pick<ChatRow, Columns[number]>[] = [];
  for (const shelf of wanted) {
    if (rows.length >= limit) break;
    const whole = kysely.selectFrom('chats').where('subject', '=', subject).where('shelf', '=', shelf);
    const isBehind = sql<boolean>`(updated_at_ms, id) < (${after?.updatedAtMs ?? 0}, ${after?.id ?? ''})`;
    const query = after?.shelf === shelf ? whole.where(isBehind) : whole;
    const ordered = query
      .orderBy('updated_at_ms', 'desc')
      .orderBy('id', 'desc')
      .limit(limit - rows.length);
    rows.push(...((await ordered.select(columns as readonly (keyof ChatRow)[]).execute()) as typeof rows));
  }
  return rows;
}

/** A whole list as of a revision of its user. */
export interface Listing {
  readonly revision: number;
  readonly rows: readonly LookedRow[];
}

/** The longest part of a list that is brought up to date row by row. */
const mostChanged = 500;

/** The rows of a list that was read before as they are now; undefined if so much was changed that it has to be read anew. */
export async function bringUpToDate(
  kysely: Kysely<Schema>,
  subject: string,
  { listing, archived }: { readonly listing: Listing; readonly archived: boolean },
): Promise<readonly LookedRow[] | undefined> {
  const changed = await kysely
    .selectFrom('chats')
    .where('subject', '=', subject)
    .where('revision', '>', listing.revision)
    .select(lookedColumns)
    .orderBy('revision')
    .limit(mostChanged + 1)
    .execute();
  if (changed.length > mostChanged) return undefined;
  const ids = new Set(changed.map(({ id }) => id));
  const isListed = ({ shelf }: LookedRow): boolean =>
    archived ? shelf === shelves.archived : shelf === shelves.pinned || shelf === shelves.listed;
  return [...listing.rows.filter(({ id }) => !ids.has(id)), ...changed.filter(isListed)].sort(byPlace);
}

/** In the order of `listRows`. */
function byPlace(one: LookedRow, other: LookedRow): number {
  if (one.shelf !== other.shelf) return one.shelf === shelves.pinned ? -1 : 1;
  return other.updated_at_ms - one.updated_at_ms || (one.id < other.id ? 1 : -1);
}
