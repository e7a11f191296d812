import { setImmediate } from 'node:timers/promises';
import type { BoundedCache } from '#base/cache/bounded-cache.ts';
import type { JsonObject } from '#base/json/json.ts';
import { excerptOfTexts } from '#base/text/excerpt.ts';
import type { ChatHead, ChatListPage, ChatSearchQuery } from '#domain/chats/chat-store.ts';
import { bringUpToDate, type LookedRow, listRows, lookedColumns, toMark } from './chat-pages.ts';
import { findOwner, openTurn, shelves } from './chat-rows.ts';
import type { ChatOwnerRow } from './chat-schema.ts';
import { ChatTexts } from './chat-texts.ts';
import { findInLargeChat, type ReadDeps, readChatTexts } from './read-chat-texts.ts';

export interface ChatSearchDeps extends ReadDeps {
  /** What was read for the searches of each user. */
  readonly kept: BoundedCache<ChatTexts>;
}

interface Looking {
  readonly subject: string;
  readonly query: ChatSearchQuery;
  readonly texts: ChatTexts;
}

/** Some of a list in its order. */
interface Step {
  readonly rows: readonly LookedRow[];
  readonly isLast: boolean;
}

/** Chats in their order that are looked through in one go. */
interface Group {
  readonly rows: LookedRow[];
  /** They were read before. */
  readonly isKnown: boolean;
  bytes: number;
}

/** What one page of a search decrypts at most, and how much of it before it tells what it has found. */
const mostBytes = 32 * 1024 ** 2;
const patientBytes = 1024 ** 2;
/** What a chat costs beside its bytes: its rows are decrypted one by one. */
const bytesOfChat = 1024;
const rowsAtOnce = 2000;
/** The longest list that is kept. */
const mostRows = 50_000;
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
  readonly #underWay = new Map<string, Promise<ChatListPage>>();

  constructor(deps: ChatSearchDeps) {
    this.#deps = deps;
  }

  /** The chats in which every word stands. Stops where a part of them was looked through, and says where to go on. */
  async find(subject: string, query: ChatSearchQuery): Promise<ChatListPage> {
    const page = this.#findAfter(this.#underWay.get(subject), subject, query);
    this.#underWay.set(subject, page);
    try {
      return await page;
    } finally {
      if (this.#underWay.get(subject) === page) this.#underWay.delete(subject);
    }
  }

  /** Keeps nothing more of what was said in a chat; without an id, in any of the user's. */
  forget(subject: string, id?: string): void {
    if (id === undefined) this.#deps.kept.delete(subject);
    else this.#deps.kept.find(subject)?.delete(id);
  }

  async #findAfter(before: Promise<ChatListPage> | undefined, subject: string, query: ChatSearchQuery): Promise<ChatListPage> {
    await before?.catch(() => undefined);
    const { kept } = this.#deps;
    const texts = kept.find(subject) ?? new ChatTexts(kept.maxBytes);
    const { bytes } = texts;
    try {
      return await this.#findIn({ subject, query, texts });
    } finally {
      // Only now it is known how much it takes.
      if (texts.bytes !== bytes) kept.set(subject, texts);
    }
  }

  async #findIn(looking: Looking): Promise<ChatListPage> {
    const { heads, next } = await this.#findHeads(looking);
    const { subject, query } = looking;
    if (query.excerpts !== true || heads.length === 0) return { heads, next };
    return {
      heads,
      next,
      excerpts: await readExcerpts(this.#deps, { subject, heads, words: query.words, signal: query.signal }),
    };
  }

  async #findHeads(looking: Looking): Promise<ChatListPage> {
    const { limit, signal } = looking.query;
    const heads: ChatHead[] = [];
    let { after } = looking.query;
    let read = 0;
    for await (const { rows, isLast } of this.#steps(looking)) {
      for (const group of groupsOf(rows, looking.texts)) {
        signal?.throwIfAborted();
        const toRead = group.isKnown ? 0 : group.bytes;
        // What is looked through first may be large; another page begins with the next that is.
        if (read > 0 && toRead > 0 && read + toRead > bytesFor(heads)) return { heads, next: after };
        read += toRead;
        const last = addFound(heads, group.rows, { fieldsOf: await this.#lookThrough(looking, group), limit });
        after = last && toMark(last);
        if (heads.length === limit) return { heads, next: isLast && last === rows.at(-1) ? undefined : after };
      }
    }
    return { heads, next: undefined };
  }

  /** The list of a user, a part at a time; from memory, with what was changed since it was read. */
  async *#steps(looking: Looking): AsyncGenerator<Step> {
    const { subject, query, texts } = looking;
    const { database } = this.#deps;
    const { archived } = query;
    // In this order: what changes between the two looks is seen at the next one.
    const owner = await database.run((kysely) => findOwner(kysely, subject));
    const known = query.after === undefined ? await this.#knownRows(looking, owner) : undefined;
    if (known !== undefined) return yield { rows: known, isLast: true };
    const all: LookedRow[] = [];
    for (let { after } = query, isLast = false; !isLast; ) {
      const asked = { limit: rowsAtOnce, archived, after };
      const rows = await database.run((kysely) => listRows(kysely, subject, asked, lookedColumns));
      isLast = rows.length < rowsAtOnce;
      const last = rows.at(-1);
      after = last && toMark(last);
      if (all.length < mostRows) all.push(...rows);
      yield { rows, isLast };
    }
    if (query.after === undefined && all.length < mostRows)
      texts.setListing(archived, { revision: owner?.revision ?? 0, rows: all });
  }

  /** The list that is in memory, as it is now. */
  async #knownRows(
    { subject, query: { archived }, texts }: Looking,
    owner: ChatOwnerRow | undefined,
  ): Promise<readonly LookedRow[] | undefined> {
    const listing = texts.listing(archived);
    // What was deleted without a row that says so cannot be told from what is still there.
    if (listing === undefined || owner === undefined || owner.forgotten_revision > listing.revision) return undefined;
    const { revision } = owner;
    if (listing.revision === revision) return listing.rows;
    const rows = await this.#deps.database.run((kysely) => bringUpToDate(kysely, subject, { listing, archived }));
    if (rows !== undefined) texts.setListing(archived, { revision, rows });
    return rows;
  }

  /** Tells of each chat of a group its fields, if every word stands in it. */
  async #lookThrough(looking: Looking, { rows, bytes, isKnown }: Group): Promise<(row: LookedRow) => JsonObject | undefined> {
    const { subject, texts } = looking;
    const { words } = looking.query;
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
function bytesFor(found: readonly ChatHead[]): number {
  return found.length > 0 ? patientBytes : mostBytes;
}

/** Adds those that have fields to what was found, up to the limit; gives the last one that was looked at. */
function addFound(
  heads: ChatHead[],
  rows: readonly LookedRow[],
  { fieldsOf, limit }: { fieldsOf: (row: LookedRow) => JsonObject | undefined; limit: number },
): LookedRow | undefined {
  for (const row of rows) {
    const fields = fieldsOf(row);
    if (fields !== undefined) heads.push(toFound(row, fields));
    if (heads.length === limit) return row;
  }
  return rows.at(-1);
}

/** Rows in their order, as many together as are looked through at once. */
function groupsOf(rows: readonly LookedRow[], texts: ChatTexts): readonly Group[] {
  const groups: Group[] = [];
  for (const row of rows) {
    const isKnown = texts.find(row) !== undefined;
    const bytes = row.bytes + bytesOfChat;
    const last = groups.at(-1);
    const most = isKnown ? knownBytesAtOnce : bytesAtOnce;
    const isFull = last !== undefined && (last.bytes + bytes > most || (!isKnown && last.rows.length === chatsAtOnce));
    if (last === undefined || last.isKnown !== isKnown || isFull) groups.push({ rows: [row], isKnown, bytes });
    else {
      last.rows.push(row);
      last.bytes += bytes;
    }
  }
  return groups;
}

function toFound({ id, revision, updated_at_ms, shelf }: LookedRow, fields: JsonObject): ChatHead {
  const [pinned, archived] = [shelf === shelves.pinned, shelf === shelves.archived];
  return { id, revision, updatedAtMs: updated_at_ms, pinned, archived, fields };
}

interface Found {
  readonly subject: string;
  readonly heads: readonly ChatHead[];
  /** In lower case. */
  readonly words: readonly string[];
  /** Ends the work once nobody waits for it. */
  readonly signal?: AbortSignal | undefined;
}

const mostExcerpts = 100;
/** What is decrypted for them at most: chats that do not fit have none. */
const maxExcerptBytes = 4 * 1024 ** 2;
const turnColumns = ['subject', 'chat', 'id', 'sealed_turn'] as const;

/** A line of each of the first chats that were found, by their ids: of the first turn with as many of the words as can be. */
async function readExcerpts(deps: ReadDeps, { subject, heads, words, signal }: Found): Promise<ReadonlyMap<string, string>> {
  const { database, seal } = deps;
  const ids = await fittingIds(deps, subject, heads);
  if (ids.length === 0) return new Map();
  const rows = await database.run((kysely) =>
    kysely.selectFrom('chat_turns').select(turnColumns).where('subject', '=', subject).where('chat', 'in', ids).execute(),
  );
  const excerpts = new Map<string, string>();
  for (const [chat, turns] of Map.groupBy(rows, (row) => row.chat)) {
    // Streams go on meanwhile.
    await setImmediate();
    signal?.throwIfAborted();
    const said = turns.map((turn) => openTurn(seal, turn)).sort((one, other) => Number(one.atMs) - Number(other.atMs));
    const line = excerptOfTexts(
      said.map(({ text }) => String(text)),
      words,
    );
    if (line !== undefined) excerpts.set(chat, line);
  }
  return excerpts;
}

async function fittingIds({ database }: ReadDeps, subject: string, heads: readonly ChatHead[]): Promise<readonly string[]> {
  const ids = heads.slice(0, mostExcerpts).map(({ id }) => id);
  const sizes = await database.run((kysely) =>
    kysely.selectFrom('chats').select(['id', 'bytes']).where('subject', '=', subject).where('id', 'in', ids).execute(),
  );
  const bytesById = new Map(sizes.map(({ id, bytes }) => [id, bytes]));
  let left = maxExcerptBytes;
  return ids.filter((id) => {
    const bytes = bytesById.get(id) ?? 0;
    const isFitting = bytes <= left;
    if (isFitting) left -= bytes;
    return isFitting;
  });
}
