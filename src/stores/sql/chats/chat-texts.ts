import type { BoundedCacheOptions } from '#base/cache/bounded-cache.ts';
import type { JsonObject } from '#base/json/json.ts';
import type { ChatListing, SearchRow } from './chat-pages.ts';

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

  /** Returns the list of the user as it was last read. */
  listing(archived: boolean): ChatListing | undefined {
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
