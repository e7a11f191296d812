import { setImmediate } from 'node:timers/promises';
import type { BoundedCache } from '#base/cache/bounded-cache.ts';
import type { JsonObject } from '#base/json/json.ts';
import { findText } from '#base/text/find-text.ts';
import { createExcerptOfTexts } from '#base/text/truncate.ts';
import { listTurnTexts } from '#contract/page/turn-texts.ts';
import type { ChatHead, ChatListPage, ChatSearchQuery } from '#domain/chats/chat-store.ts';
import {
  findOwner,
  listRows,
  openTurn,
  type SearchRow,
  searchColumns,
  selectTurns,
  toCursor,
  toHead,
  updateListing,
} from './chat-rows.ts';
import type { ChatOwnerRow } from './chat-tables.ts';
import { ChatTexts, findInLargeChat, type ReadDeps, readChatTexts } from './chat-texts.ts';

export interface ChatSearchDeps extends ReadDeps {
  /** Decrypted texts of each user's chats. */
  readonly cache: BoundedCache<ChatTexts>;
}

interface SearchRun {
  readonly subject: string;
  readonly query: ChatSearchQuery;
  readonly texts: ChatTexts;
}

/** Consecutive rows of a list. */
interface ListPart {
  readonly rows: readonly SearchRow[];
  readonly isLast: boolean;
}

/** Consecutive chats that are searched in one step. */
interface ChatGroup {
  readonly rows: SearchRow[];
  /** Whether their texts are in the cache. */
  readonly isCached: boolean;
  bytes: number;
}

/** Maximum number of bytes that a page of a search decrypts to find its first match. */
const maxBytesBeforeMatch = 32 * 1024 ** 2;
/** Maximum number of bytes that a page decrypts if it has a match. */
const maxBytesAfterMatch = 1024 ** 2;
/** Cost of a chat in addition to its bytes, because its rows are decrypted one by one. */
const bytesPerChat = 1024;
const rowsPerQuery = 2000;
/** Maximum length of a list in the cache. */
const maxRows = 50_000;
/** Limits of one group: the number of uncached chats, their bytes, and the bytes of cached chats. */
const maxUncachedGroupChats = 100;
const maxUncachedGroupBytes = 1024 ** 2;
const maxCachedGroupBytes = 4 * 1024 ** 2;

/**
 * Searches for words in chats. No index of words is stored, because chats are sealed. Decrypted texts are cached in memory,
 * within bounds, until their chat changes. The first search of a user takes about 30 µs per chat, and later searches take about
 * 1 µs.
 */
export class ChatSearch {
  readonly #deps: ChatSearchDeps;
  /** The last search of each user. The next search waits for it and uses the texts that it has read. */
  readonly #searches = new Map<string, Promise<ChatListPage>>();

  constructor(deps: ChatSearchDeps) {
    this.#deps = deps;
  }

  /** Finds the chats that contain every word. A page ends at its limit of chats or decrypted bytes. `next` continues the search. */
  async find(subject: string, query: ChatSearchQuery): Promise<ChatListPage> {
    const page = this.#findAfter(this.#searches.get(subject), subject, query);
    this.#searches.set(subject, page);
    try {
      return await page;
    } finally {
      if (this.#searches.get(subject) === page) this.#searches.delete(subject);
    }
  }

  /** Removes the cached texts of a chat. Without an ID, removes the texts of all chats of the user. */
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
      // Updates the cache entry, because its size is known only now.
      if (texts.bytes !== bytes) cache.set(subject, texts);
    }
  }

  async #findIn(run: SearchRun): Promise<ChatListPage> {
    const { chats, next } = await this.#findHeads(run);
    const { words, signal, excerpts } = run.query;
    if (excerpts !== true || chats.length === 0) return { chats, next };
    return { chats, next, excerpts: await readExcerpts(this.#deps, { subject: run.subject, chats, words, signal }) };
  }

  async #findHeads(run: SearchRun): Promise<ChatListPage> {
    const { limit, signal } = run.query;
    const chats: ChatHead[] = [];
    let { after } = run.query;
    let readBytes = 0;
    for await (const { rows, isLast } of this.#readParts(run)) {
      for (const group of groupRows(rows, run.texts)) {
        signal?.throwIfAborted();
        const groupBytes = group.isCached ? 0 : group.bytes;
        // The first group may be large. A later large group starts a new page.
        if (readBytes > 0 && groupBytes > 0 && readBytes + groupBytes > getMaxBytes(chats)) return { chats, next: after };
        readBytes += groupBytes;
        const last = addMatches(chats, group.rows, { findFields: await this.#matchGroup(run, group), limit });
        after = last && toCursor(last);
        if (chats.length === limit) return { chats, next: isLast && last === rows.at(-1) ? undefined : after };
      }
    }
    return { chats, next: undefined };
  }

  /** Yields the list of a user in parts. Uses the cached list with later changes if possible. */
  async *#readParts(run: SearchRun): AsyncGenerator<ListPart> {
    const { subject, query, texts } = run;
    const { database } = this.#deps;
    const { archived } = query;
    // The order matters: a change between the two reads is found by the next search.
    const owner = await database.run((kysely) => findOwner(kysely, subject));
    const cachedRows = query.after === undefined ? await this.#readCachedRows(run, owner) : undefined;
    if (cachedRows !== undefined) return yield { rows: cachedRows, isLast: true };
    const all: SearchRow[] = [];
    for (let { after } = query, isLast = false; !isLast; ) {
      const listQuery = { limit: rowsPerQuery, archived, after };
      const rows = await database.run((kysely) => listRows(kysely, subject, listQuery, searchColumns));
      isLast = rows.length < rowsPerQuery;
      const last = rows.at(-1);
      after = last && toCursor(last);
      if (all.length < maxRows) all.push(...rows);
      yield { rows, isLast };
    }
    if (query.after === undefined && all.length < maxRows)
      texts.setListing(archived, { revision: owner?.revision ?? 0, rows: all });
  }

  /** Returns the current rows of the cached list, or undefined if the list must be read. */
  async #readCachedRows(
    { subject, query: { archived }, texts }: SearchRun,
    owner: ChatOwnerRow | undefined,
  ): Promise<readonly SearchRow[] | undefined> {
    const listing = texts.getListing(archived);
    // A chat that was deleted without a remaining row is not among the changed rows.
    if (listing === undefined || owner === undefined || owner.forgotten_revision > listing.revision) return undefined;
    const { revision } = owner;
    if (listing.revision === revision) return listing.rows;
    const rows = await this.#deps.database.run((kysely) => updateListing(kysely, subject, { listing, archived }));
    if (rows !== undefined) texts.setListing(archived, { revision, rows });
    return rows;
  }

  /** Returns a function that returns the fields of a chat of the group if it contains every word. */
  async #matchGroup(run: SearchRun, { rows, bytes, isCached }: ChatGroup): Promise<(row: SearchRow) => JsonObject | undefined> {
    const { subject, texts } = run;
    const { words } = run.query;
    const [first] = rows;
    if (!isCached && first !== undefined && first.bytes > maxUncachedGroupBytes) {
      const fields = await findInLargeChat(this.#deps, { subject, id: first.id }, words);
      return () => fields;
    }
    const readTexts = isCached ? undefined : await readChatTexts(this.#deps, subject, rows);
    for (const [id, text] of readTexts ?? []) texts.set(id, text);
    if (isCached && bytes > maxUncachedGroupBytes) await setImmediate();
    return (row) => {
      const text = readTexts === undefined ? texts.find(row) : readTexts.get(row.id);
      return text !== undefined && words.every((word) => findText(text.text, word) !== -1) ? text.fields : undefined;
    };
  }
}

/** Returns the maximum number of bytes that the page may decrypt. */
function getMaxBytes(chats: readonly ChatHead[]): number {
  return chats.length > 0 ? maxBytesAfterMatch : maxBytesBeforeMatch;
}

/** Adds the matching chats up to the limit. Returns the last row that was checked. */
function addMatches(
  chats: ChatHead[],
  rows: readonly SearchRow[],
  { findFields, limit }: { findFields: (row: SearchRow) => JsonObject | undefined; limit: number },
): SearchRow | undefined {
  for (const row of rows) {
    const fields = findFields(row);
    if (fields !== undefined) chats.push(toHead(row, fields));
    if (chats.length === limit) return row;
  }
  return rows.at(-1);
}

/** Groups consecutive rows up to the limits of one group. */
function groupRows(rows: readonly SearchRow[], texts: ChatTexts): readonly ChatGroup[] {
  const groups: ChatGroup[] = [];
  for (const row of rows) {
    const isCached = texts.find(row) !== undefined;
    const bytes = row.bytes + bytesPerChat;
    const last = groups.at(-1);
    const maxGroupBytes = isCached ? maxCachedGroupBytes : maxUncachedGroupBytes;
    const isFull =
      last !== undefined && (last.bytes + bytes > maxGroupBytes || (!isCached && last.rows.length === maxUncachedGroupChats));
    if (last === undefined || last.isCached !== isCached || isFull) groups.push({ rows: [row], isCached, bytes });
    else {
      last.rows.push(row);
      last.bytes += bytes;
    }
  }
  return groups;
}

interface ExcerptQuery {
  readonly subject: string;
  readonly chats: readonly ChatHead[];
  /** Words in lower case. */
  readonly words: readonly string[];
  /** Aborts the search when the client no longer waits for it. */
  readonly signal?: AbortSignal | undefined;
}

const maxExcerpts = 100;
/** Maximum number of bytes that are decrypted for excerpts. A chat that would exceed it gets no excerpt. */
const maxExcerptBytes = 4 * 1024 ** 2;

/** Returns excerpts of the first matching chats by ID. Each excerpt comes from the first text that contains the most words. */
async function readExcerpts(
  deps: ReadDeps,
  { subject, chats, words, signal }: ExcerptQuery,
): Promise<ReadonlyMap<string, string>> {
  const { database, seal } = deps;
  const ids = await selectFittingIds(deps, subject, chats);
  if (ids.length === 0) return new Map();
  const rows = await database.run((kysely) => selectTurns(kysely, subject, ids).execute());
  const excerpts = new Map<string, string>();
  for (const [chat, turns] of Map.groupBy(rows, (row) => row.chat)) {
    // Lets other requests run in between.
    await setImmediate();
    signal?.throwIfAborted();
    const sortedTurns = turns.map((turn) => openTurn(seal, turn)).sort((left, right) => Number(left.atMs) - Number(right.atMs));
    const line = createExcerptOfTexts(sortedTurns.flatMap(listTurnTexts), words);
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
