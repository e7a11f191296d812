import { setImmediate } from 'node:timers/promises';
import type { BoundedCache } from '#base/cache/bounded-cache.ts';
import type { JsonObject } from '#base/json/json.ts';
import { createExcerptOfTexts } from '#base/text/create-excerpt.ts';
import type { ChatHead, ChatListPage, ChatSearchQuery } from '#domain/chats/chat-store.ts';
import { listRows, type SearchRow, searchColumns, toCursor, updateListing } from './chat-pages.ts';
import { findOwner, openTurn, shelves } from './chat-rows.ts';
import type { ChatOwnerRow } from './chat-schema.ts';
import { ChatTexts } from './chat-texts.ts';
import { findInLargeChat, type ReadDeps, readChatTexts } from './read-chat-texts.ts';

export interface ChatSearchDeps extends ReadDeps {
  /** What was read for the searches of each user. */
  readonly cache: BoundedCache<ChatTexts>;
}

interface SearchRun {
  readonly subject: string;
  readonly query: ChatSearchQuery;
  readonly texts: ChatTexts;
}

/** Some of a list in its order. */
interface Step {
  readonly rows: readonly SearchRow[];
  readonly isLast: boolean;
}

/** Chats in their order that are looked through in one go. */
interface Group {
  readonly rows: SearchRow[];
  /** They were read before. */
  readonly isKnown: boolean;
  bytes: number;
}

/** What one page of a search decrypts at most, and how much of it before it tells what it has found. */
const maxBytes = 32 * 1024 ** 2;
const maxBytesAfterMatch = 1024 ** 2;
/** What a chat costs beside its bytes: its rows are decrypted one by one. */
const bytesPerChat = 1024;
const rowsAtOnce = 2000;
/** The longest list that is kept. */
const maxRows = 50_000;
/** How many chats are read in one go, how large they may be together, and how much is looked through that is known. */
const chatsAtOnce = 100;
const bytesAtOnce = 1024 ** 2;
const knownBytesAtOnce = 4 * 1024 ** 2;

/**
 * Looks for words in chats. Nothing on the disk says which words are where; what was decrypted once is kept in memory, within
 * bounds, until its chat changes. The first search of a user takes some 30 µs for each chat, the next ones about 1 µs.
 */
export class ChatSearch {
  readonly #deps: ChatSearchDeps;
  /** The last search of each user: the next one waits for it, and finds what that has read. */
  readonly #searches = new Map<string, Promise<ChatListPage>>();

  constructor(deps: ChatSearchDeps) {
    this.#deps = deps;
  }

  /** The chats in which every word stands. Stops where a part of them was looked through, and says where to go on. */
  async find(subject: string, query: ChatSearchQuery): Promise<ChatListPage> {
    const page = this.#findAfter(this.#searches.get(subject), subject, query);
    this.#searches.set(subject, page);
    try {
      return await page;
    } finally {
      if (this.#searches.get(subject) === page) this.#searches.delete(subject);
    }
  }

  /** Keeps nothing more of what was said in a chat; without an id, in any of the user's. */
  deleteTexts(subject: string, id?: string): void {
    if (id === undefined) this.#deps.cache.delete(subject);
    else this.#deps.cache.find(subject)?.delete(id);
  }

  async #findAfter(previous: Promise<ChatListPage> | undefined, subject: string, query: ChatSearchQuery): Promise<ChatListPage> {
    await previous?.catch(() => undefined);
    const { cache } = this.#deps;
    const texts = cache.find(subject) ?? new ChatTexts(cache.maxBytes);
    const { bytes } = texts;
    try {
      return await this.#findIn({ subject, query, texts });
    } finally {
      // Only now it is known how much it takes.
      if (texts.bytes !== bytes) cache.set(subject, texts);
    }
  }

  async #findIn(run: SearchRun): Promise<ChatListPage> {
    const { chats, next } = await this.#findHeads(run);
    const { subject, query } = run;
    if (query.excerpts !== true || chats.length === 0) return { chats, next };
    return {
      chats,
      next,
      excerpts: await readExcerpts(this.#deps, { subject, chats, words: query.words, signal: query.signal }),
    };
  }

  async #findHeads(run: SearchRun): Promise<ChatListPage> {
    const { limit, signal } = run.query;
    const chats: ChatHead[] = [];
    let { after } = run.query;
    let readBytes = 0;
    for await (const { rows, isLast } of this.#steps(run)) {
      for (const group of groupRows(rows, run.texts)) {
        signal?.throwIfAborted();
        const toRead = group.isKnown ? 0 : group.bytes;
        // What is looked through first may be large; another page begins with the next that is.
        if (readBytes > 0 && toRead > 0 && readBytes + toRead > getMaxBytes(chats)) return { chats, next: after };
        readBytes += toRead;
        const last = addMatches(chats, group.rows, { fieldsOf: await this.#matchGroup(run, group), limit });
        after = last && toCursor(last);
        if (chats.length === limit) return { chats, next: isLast && last === rows.at(-1) ? undefined : after };
      }
    }
    return { chats, next: undefined };
  }

  /** The list of a user, a part at a time; from memory, with what was changed since it was read. */
  async *#steps(run: SearchRun): AsyncGenerator<Step> {
    const { subject, query, texts } = run;
    const { database } = this.#deps;
    const { archived } = query;
    // In this order: what changes between the two looks is seen at the next one.
    const owner = await database.run((kysely) => findOwner(kysely, subject));
    const cachedRows = query.after === undefined ? await this.#readCachedRows(run, owner) : undefined;
    if (cachedRows !== undefined) return yield { rows: cachedRows, isLast: true };
    const all: SearchRow[] = [];
    for (let { after } = query, isLast = false; !isLast; ) {
      const listQuery = { limit: rowsAtOnce, archived, after };
      const rows = await database.run((kysely) => listRows(kysely, subject, listQuery, searchColumns));
      isLast = rows.length < rowsAtOnce;
      const last = rows.at(-1);
      after = last && toCursor(last);
      if (all.length < maxRows) all.push(...rows);
      yield { rows, isLast };
    }
    if (query.after === undefined && all.length < maxRows)
      texts.setListing(archived, { revision: owner?.revision ?? 0, rows: all });
  }

  /** The list that is in memory, as it is now. */
  async #readCachedRows(
    { subject, query: { archived }, texts }: SearchRun,
    owner: ChatOwnerRow | undefined,
  ): Promise<readonly SearchRow[] | undefined> {
    const listing = texts.listing(archived);
    // What was deleted without a row that says so cannot be told from what is still there.
    if (listing === undefined || owner === undefined || owner.forgotten_revision > listing.revision) return undefined;
    const { revision } = owner;
    if (listing.revision === revision) return listing.rows;
    const rows = await this.#deps.database.run((kysely) => updateListing(kysely, subject, { listing, archived }));
    if (rows !== undefined) texts.setListing(archived, { revision, rows });
    return rows;
  }

  /** Tells of each chat of a group its fields, if every word stands in it. */
  async #matchGroup(run: SearchRun, { rows, bytes, isKnown }: Group): Promise<(row: SearchRow) => JsonObject | undefined> {
    const { subject, texts } = run;
    const { words } = run.query;
    const [first] = rows;
    if (!isKnown && first !== undefined && first.bytes > bytesAtOnce) {
      const fields = await findInLargeChat(this.#deps, { subject, id: first.id }, words);
      return () => fields;
    }
    const fresh = isKnown ? undefined : await readChatTexts(this.#deps, subject, rows);
    for (const [id, text] of fresh ?? []) texts.set(id, text);
    if (isKnown && bytes > bytesAtOnce) await setImmediate();
    return (row) => {
      const text = fresh === undefined ? texts.find(row) : fresh.get(row.id);
      return text !== undefined && words.every((word) => text.text.includes(word)) ? text.fields : undefined;
    };
  }
}

/** How much a page decrypts. */
function getMaxBytes(chats: readonly ChatHead[]): number {
  return chats.length > 0 ? maxBytesAfterMatch : maxBytes;
}

/** Adds those that have fields to what was found, up to the limit; gives the last one that was looked at. */
function addMatches(
  chats: ChatHead[],
  rows: readonly SearchRow[],
  { fieldsOf, limit }: { fieldsOf: (row: SearchRow) => JsonObject | undefined; limit: number },
): SearchRow | undefined {
  for (const row of rows) {
    const fields = fieldsOf(row);
    if (fields !== undefined) chats.push(toMatch(row, fields));
    if (chats.length === limit) return row;
  }
  return rows.at(-1);
}

/** Rows in their order, as many together as are looked through at once. */
function groupRows(rows: readonly SearchRow[], texts: ChatTexts): readonly Group[] {
  const groups: Group[] = [];
  for (const row of rows) {
    const isKnown = texts.find(row) !== undefined;
    const bytes = row.bytes + bytesPerChat;
    const last = groups.at(-1);
    const maxGroupBytes = isKnown ? knownBytesAtOnce : bytesAtOnce;
    const isFull = last !== undefined && (last.bytes + bytes > maxGroupBytes || (!isKnown && last.rows.length === chatsAtOnce));
    if (last === undefined || last.isKnown !== isKnown || isFull) groups.push({ rows: [row], isKnown, bytes });
    else {
      last.rows.push(row);
      last.bytes += bytes;
    }
  }
  return groups;
}

function toMatch({ id, revision, updated_at_ms, shelf }: SearchRow, fields: JsonObject): ChatHead {
  const [pinned, archived] = [shelf === shelves.pinned, shelf === shelves.archived];
  return { id, revision, updatedAtMs: updated_at_ms, pinned, archived, fields };
}

interface ExcerptQuery {
  readonly subject: string;
  readonly chats: readonly ChatHead[];
  /** In lower case. */
  readonly words: readonly string[];
  /** Ends the work once nobody waits for it. */
  readonly signal?: AbortSignal | undefined;
}

const maxExcerpts = 100;
/** What is decrypted for them at most: chats that do not fit have none. */
const maxExcerptBytes = 4 * 1024 ** 2;
const turnColumns = ['subject', 'chat', 'id', 'sealed_turn'] as const;

/** A line of each of the first chats that were found, by their ids: of the first turn with as many of the words as can be. */
async function readExcerpts(
  deps: ReadDeps,
  { subject, chats, words, signal }: ExcerptQuery,
): Promise<ReadonlyMap<string, string>> {
  const { database, seal } = deps;
  const ids = await selectFittingIds(deps, subject, chats);
  if (ids.length === 0) return new Map();
  const rows = await database.run((kysely) =>
    kysely.selectFrom('chat_turns').select(turnColumns).where('subject', '=', subject).where('chat', 'in', ids).execute(),
  );
  const excerpts = new Map<string, string>();
  for (const [chat, turns] of Map.groupBy(rows, (row) => row.chat)) {
    // Streams go on meanwhile.
    await setImmediate();
    signal?.throwIfAborted();
    const sortedTurns = turns.map((turn) => openTurn(seal, turn)).sort((left, right) => Number(left.atMs) - Number(right.atMs));
    const line = createExcerptOfTexts(
      sortedTurns.map(({ text }) => String(text)),
      words,
    );
    if (line !== undefined) excerpts.set(chat, line);
  }
  return excerpts;
}

async function selectFittingIds({ database }: ReadDeps, subject: string, chats: readonly ChatHead[]): Promise<readonly string[]> {
  const ids = chats.slice(0, maxExcerpts).map(({ id }) => id);
  const sizes = await database.run((kysely) =>
    kysely.selectFrom('chats').select(['id', 'bytes']).where('subject', '=', subject).where('id', 'in', ids).execute(),
  );
  const bytesById = new Map(sizes.map(({ id, bytes }) => [id, bytes]));
  let remainingBytes = maxExcerptBytes;
  return ids.filter((id) => {
    const bytes = bytesById.get(id) ?? 0;
    const isFitting = bytes <= remainingBytes;
    if (isFitting) remainingBytes -= bytes;
    return isFitting;
  });
}
