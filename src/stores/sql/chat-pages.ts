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
/** How many chats are read in one go, and how large they may be together. */
const chatsAtOnce = 50;
const bytesAtOnce = 1024 ** 2;

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
  const isWhole = rows.length < mostChats;
  let bytes = 0;
  let before: ListedRow | undefined;
  for (const group of groupsOf(rows)) {
    bytes += bytesOf(group);
    // What is looked through first may be large; another page begins with the next that is.
    if (before !== undefined && bytes > mostBytes) return { heads, next: toMark(before) };
    const found = await findInGroup(parts, group, query.words);
    for (const row of group) {
      before = row;
      const head = found.get(row.id);
      if (head !== undefined) heads.push(head);
      if (heads.length === query.limit) return { heads, next: isWhole && row === rows.at(-1) ? undefined : toMark(row) };
    }
  }
  return { heads, next: isWhole || before === undefined ? undefined : toMark(before) };
}

/** Rows in their order, as many together as are read at once. */
function groupsOf(rows: readonly ListedRow[]): readonly ListedRow[][] {
  const groups: ListedRow[][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (last === undefined || last.length === chatsAtOnce || bytesOf(last) + row.bytes > bytesAtOnce) groups.push([row]);
    else last.push(row);
  }
  return groups;
}

function bytesOf(rows: readonly ListedRow[]): number {
  return rows.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Those in which every word stands, by id. */
async function findInGroup(
  parts: SearchParts,
  group: readonly ListedRow[],
  words: readonly string[],
): Promise<ReadonlyMap<string, ChatHead>> {
  const heads = new Map(group.map((row) => [row.id, toHead(parts.seal, row)]));
  const missing = new Map([...heads].map(([id, { fields }]) => [id, without(words, toLookedThrough(fields))]));
  const open = group.filter(({ id }) => missing.get(id)?.length !== 0);
  const [first] = open;
  if (first !== undefined && first.bytes > bytesAtOnce) {
    if (await standInTurns(parts, first, missing.get(first.id) ?? words)) missing.set(first.id, []);
  } else if (open.length > 0) {
    for (const turn of await turnsOf(parts, open)) {
      const left = missing.get(turn.chat) ?? [];
      if (left.length > 0) missing.set(turn.chat, without(left, String(openTurn(parts.seal, turn).text).toLowerCase()));
    }
  }
  return new Map([...heads].filter(([id]) => missing.get(id)?.length === 0));
}

/** All turns of a few chats. */
function turnsOf({ database }: SearchParts, rows: readonly ListedRow[]) {
  const ids = rows.map(({ id }) => id);
  return database.run((kysely) =>
    kysely
      .selectFrom('chat_turns')
      .select(['subject', 'chat', 'id', 'sealed_turn'])
      .where('subject', '=', rows[0]?.subject ?? '')
      .where('chat', 'in', ids)
      .execute(),
  );
}

/** The same of a large one, a few turns at a time. */
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
