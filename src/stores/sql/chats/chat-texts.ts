import { setImmediate } from 'node:timers/promises';
import type { BoundedCacheOptions } from '#base/cache/bounded-cache.ts';
import type { JsonObject } from '#base/json/json.ts';
import type { Seal } from '#base/secrets/seal.ts';
import { findText } from '#base/text/find-text.ts';
import { listTurnTexts } from '#contract/page/turn-texts.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { type ChatListing, chatStates, openHeadFields, openTurn, type SearchRow, selectTurns } from './chat-rows.ts';

/** Searchable text of a chat at a revision. */
export interface ChatText {
  readonly revision: number;
  readonly fields: JsonObject;
  /** Title, tags, and turns in lower case. */
  readonly text: string;
}

/** Memory overhead of one text and of one list row. */
const bytesPerEntry = 400;
const bytesPerRow = 150;
/** Maximum share of one user in the cache. */
const userShare = 1 / 4;

/** Returns the bounds of the cache of all users. */
export function toChatTextBounds(maxBytes: number): BoundedCacheOptions<ChatTexts> {
  return { maxBytes, countBytes: ({ bytes }) => bytes };
}

/** Cached texts and lists of one user's chats. */
export class ChatTexts {
  readonly #byId = new Map<string, ChatText>();
  readonly #listings = new Map<boolean, ChatListing>();
  readonly #maxBytes: number;
  #bytes = 0;

  /** `maxBytes` is the limit for all users together. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes * userShare;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the text, or undefined if the chat has another revision. */
  find({ id, revision }: Pick<SearchRow, 'id' | 'revision'>): ChatText | undefined {
    const text = this.#byId.get(id);
    return text?.revision === revision ? text : undefined;
  }

  /** Stores a text if there is capacity. */
  set(id: string, text: ChatText): void {
    this.delete(id);
    if (!this.#canStore(countBytes(text))) return;
    this.#byId.set(id, text);
    this.#bytes += countBytes(text);
  }

  delete(id: string): void {
    const text = this.#byId.get(id);
    if (text === undefined) return;
    this.#byId.delete(id);
    this.#bytes -= countBytes(text);
  }

  /** Returns the stored list of the user's chats. */
  getListing(archived: boolean): ChatListing | undefined {
    return this.#listings.get(archived);
  }

  /**
   * Stores a list if there is capacity. Drops the texts of chats that are no longer in the list, because they were deleted or
   * moved to the other list.
   */
  setListing(archived: boolean, listing: ChatListing): void {
    const previous = this.#listings.get(archived);
    this.#listings.delete(archived);
    this.#bytes -= bytesPerRow * (previous?.rows.length ?? 0);
    const listed = new Set(listing.rows.map(({ id }) => id));
    for (const { id } of previous?.rows ?? []) if (!listed.has(id)) this.delete(id);
    if (!this.#canStore(bytesPerRow * listing.rows.length)) return;
    this.#listings.set(archived, listing);
    this.#bytes += bytesPerRow * listing.rows.length;
  }

  #canStore(bytes: number): boolean {
    return this.#bytes + bytes <= this.#maxBytes;
  }
}

/** A character takes up to two bytes. */
function countBytes({ text }: ChatText): number {
  return bytesPerEntry + 2 * text.length;
}

export interface ReadDeps {
  readonly database: SqlDatabase;
  readonly seal: Seal;
}

const turnsPerQuery = 100;

/** Returns the texts of a few chats by their IDs. Chats that were deleted in the meantime are omitted. */
export async function readChatTexts(
  { database, seal }: ReadDeps,
  subject: string,
  rows: readonly SearchRow[],
): Promise<ReadonlyMap<string, ChatText>> {
  const ids = rows.map(({ id }) => id);
  const { chats, turns } = await database.run(async (kysely) => ({
    chats: await kysely
      .selectFrom('chats')
      .select(['id', 'sealed_head'])
      .where('subject', '=', subject)
      .where('id', 'in', ids)
      .where('shelf', '<>', chatStates.deleted)
      .execute(),
    turns: await selectTurns(kysely, subject, ids).execute(),
  }));
  const turnsByChat = Map.groupBy(turns, ({ chat }) => chat);
  // Uses the revisions of the list, which was read first. A chat that changed since then has a later revision and is read again.
  const revisions = new Map(rows.map(({ id, revision }) => [id, revision]));
  return new Map(
    chats.map(({ id, sealed_head }) => {
      const fields = openHeadFields(seal, { subject, id, sealed_head });
      const turnTexts = (turnsByChat.get(id) ?? []).flatMap((turn) => listTurnTexts(openTurn(seal, turn)));
      const text = [toHeadText(fields), ...turnTexts].join('\n').toLowerCase();
      return [id, { revision: revisions.get(id) ?? 0, fields, text }];
    }),
  );
}

/** Returns the fields of a chat if it contains every word. Reads a few turns at a time. */
export async function findInLargeChat(
  { database, seal }: ReadDeps,
  { subject, id }: { readonly subject: string; readonly id: string },
  words: readonly string[],
): Promise<JsonObject | undefined> {
  const chat = await database.run((kysely) =>
    kysely
      .selectFrom('chats')
      .select('sealed_head')
      .where('subject', '=', subject)
      .where('id', '=', id)
      .where('shelf', '<>', chatStates.deleted)
      .executeTakeFirst(),
  );
  if (chat === undefined) return undefined;
  const fields = openHeadFields(seal, { subject, id, ...chat });
  let missing = await selectMissing(words, toHeadText(fields));
  for (let after = ''; missing.length > 0; ) {
    const turns = await database.run((kysely) =>
      selectTurns(kysely, subject, [id]).where('id', '>', after).orderBy('id').limit(turnsPerQuery).execute(),
    );
    for (const turn of turns) missing = await selectMissing(missing, listTurnTexts(openTurn(seal, turn)).join('\n'));
    if (turns.length < turnsPerQuery) break;
    after = turns.at(-1)?.id ?? '';
  }
  return missing.length === 0 ? fields : undefined;
}

/** Returns the title and the tags. */
function toHeadText({ title = '', tags = [] }: JsonObject): string {
  return [title, ...(tags as readonly string[])].join('\n');
}

/** Returns the words that the text does not contain. Lets other requests run between the words. */
async function selectMissing(words: readonly string[], text: string): Promise<readonly string[]> {
  const lowerCaseText = text.toLowerCase();
  const missing: string[] = [];
  for (const word of words) {
    await setImmediate();
    if (findText(lowerCaseText, word) === -1) missing.push(word);
  }
  return missing;
}
