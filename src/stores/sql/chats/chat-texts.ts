import type { BoundedCacheOptions } from '#base/cache/bounded-cache.ts';
import type { JsonObject } from '#base/json/json.ts';
import type { Listing, SearchRow } from './chat-pages.ts';

/** What was said in a chat, as of a revision. */
export interface ChatText {
  readonly revision: number;
  readonly fields: JsonObject;
  /** Title, tags and turns in lower case. */
  readonly text: string;
}

/** Objects and places of one text, and of one row. */
const bytesPerEntry = 400;
const bytesPerRow = 150;
/** What one user has at most, of all that may be kept. */
const userShare = 1 / 4;

/** Bounds of what is kept of the texts of all users. */
export function toChatTextBounds(maxBytes: number): BoundedCacheOptions<ChatTexts> {
  return { maxBytes, countBytes: ({ bytes }) => bytes };
}

/** What was read of one user's chats. */
export class ChatTexts {
  readonly #byId = new Map<string, ChatText>();
  readonly #listings = new Map<boolean, Listing>();
  readonly #maxBytes: number;
  #bytes = 0;

  /** `maxBytes`: of all users together. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes * userShare;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Undefined if it has another revision now. */
  find({ id, revision }: Pick<SearchRow, 'id' | 'revision'>): ChatText | undefined {
    const text = this.#byId.get(id);
    return text?.revision === revision ? text : undefined;
  }

  /** Keeps it if there is room. */
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

  /** The list of a user as it was read last. */
  listing(archived: boolean): Listing | undefined {
    return this.#listings.get(archived);
  }

  /** Keeps it if there is room. What is listed no more was deleted, or is in the other list. */
  setListing(archived: boolean, listing: Listing): void {
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

/** A char takes up to two. */
function countBytes({ text }: ChatText): number {
  return bytesPerEntry + 2 * text.length;
}
