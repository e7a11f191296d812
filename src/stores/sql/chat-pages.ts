import { type Kysely, sql } from 'kysely';
import type { JsonObject } from '#base/json.ts';
import type { Seal } from '#base/seal.ts';
import type { ChatHead, ChatListPage, ChatListQuery, ChatMark, ChatSearchQuery } from '#domain/chats/chat-store.ts';
import { type HeadRow, openTurn, shelves, toHead } from './chat-rows.ts';
import type { ChatRow } from './chat-schema.ts';
import type { Schema } from './schema.ts';
import type { SqlDatabase } from './sql-database.ts';

interface SearchParts {
  readonly database: SqlDatabase;
  readonly seal: Seal;
}

type ListedRow = HeadRow & Pick<ChatRow, 'bytes'>;
const listedColumns = ['subject', 'id', 'revision', 'shelf', 'updated_at_ms', 'sealed_head', 'bytes'] as const;

/** What one page of a search decrypts at most: some 50 ms of a processor. */
const mostBytes = 8 * 1024 ** 2;
const mostChats = 500;
const turnsAtOnce = 100;

/** Where a list goes on behind a row. */
export function toMark({ shelf, updated_at_ms, id }: ChatRow | HeadRow): ChatMark {
  return { shelf, updatedAtMs: updated_at_ms, id };
}

/** The pinned ones first, each shelf with the latest first. */
export async function listRows(
  kysely: Kysely<Schema>,
  subject: string,
  { limit, archived, after }: ChatListQuery,
): Promise<readonly ListedRow[]> {
  const all: readonly number[] = archived ? [shelves.archived] : [shelves.pinned, shelves.listed];
  const wanted = after === undefined ? all : all.slice(Math.max(all.indexOf(after.shelf), 0));
  const rows: ListedRow[] = [];
  for (const shelf of wanted) {
    if (rows.length >= limit) break;
    const whole = kysely.selectFrom('chats').select(listedColumns).where('subject', '=', subject).where('shelf', '=', shelf);
    const isBehind = sql<boolean>`(updated_at_ms, id) < (${after?.updatedAtMs ?? 0}, ${after?.id ?? ''})`;
    const query = after?.shelf === shelf ? whole.where(isBehind) : whole;
    const ordered = query.orderBy('updated_at_ms', 'desc').orderBy('id', 'desc');
    rows.push(...(await ordered.limit(limit - rows.length).execute()));
  }
  return rows;
}

/** The chats in which every word stands. Stops where a part of them was looked through, and says where to go on. */
export async function searchChats(parts: SearchParts, subject: string, query: ChatSearchQuery): Promise<ChatListPage> {
  const { database } = parts;
  const rows = await database.run((kysely) => listRows(kysely, subject, { ...query, limit: mostChats }));
  const heads: ChatHead[] = [];
  let bytes = 0;
  for (const [nth, row] of rows.entries()) {
    const head = toHead(parts.seal, row);
    const missing = without(query.words, toLookedThrough(head.fields));
    // What is looked through first may be large; another page begins with the next that is.
    if (missing.length > 0 && nth > 0 && bytes + row.bytes > mostBytes) return { heads, next: toMark(rows[nth - 1] ?? row) };
    if (missing.length > 0) bytes += row.bytes;
    if (missing.length === 0 || (await standInTurns(parts, row, missing))) heads.push(head);
    if (heads.length === query.limit)
      return { heads, next: nth + 1 < rows.length || rows.length === mostChats ? toMark(row) : undefined };
  }
  const last = rows.at(-1);
  return { heads, next: rows.length === mostChats && last !== undefined ? toMark(last) : undefined };
}

async function standInTurns({ database, seal }: SearchParts, row: ListedRow, words: readonly string[]): Promise<boolean> {
  let missing = words;
  for (let after = ''; ; ) {
    const turns = await database.run((kysely) =>
      kysely
        .selectFrom('chat_turns')
        .select(['subject', 'chat', 'id', 'sealed_turn'])
        .where('subject', '=', row.subject)
        .where('chat', '=', row.id)
        .where('id', '>', after)
        .orderBy('id')
        .limit(turnsAtOnce)
        .execute(),
    );
    for (const turn of turns) missing = without(missing, String(openTurn(seal, turn).text).toLowerCase());
    if (missing.length === 0) return true;
    if (turns.length < turnsAtOnce) return false;
    after = turns.at(-1)?.id ?? '';
  }
}

function toLookedThrough({ title = '', tags = [] }: JsonObject): string {
  return `${title}\n${(tags as readonly string[]).join('\n')}`.toLowerCase();
}

function without(words: readonly string[], text: string): readonly string[] {
  return words.filter((word) => !text.includes(word));
}
