import type { JsonObject } from '#base/json/json.ts';

/** A conversation, without its items. */
export interface StoredConversation {
  readonly id: string;
  readonly subject: string;
  readonly createdAtMs: number;
  readonly metadata: JsonObject;
}

export type ConversationRef = Pick<StoredConversation, 'id' | 'subject'>;

/** Maximum size of a page. A page with a single item may be larger. */
export interface PageBounds {
  readonly limit: number;
  readonly maxBytes: number;
}

/** Returns how many of the items form a page. The items must be in the order of the page. */
export function countPageItems(items: readonly { readonly bytes: number }[], { limit, maxBytes }: PageBounds): number {
  let pageBytes = 0;
  const end = items.findIndex(({ bytes }, index) => {
    pageBytes += bytes;
    return index === limit || (index > 0 && pageBytes > maxBytes);
  });
  return end < 0 ? items.length : end;
}

/** Size of items that have more bytes than a read allows. The read returns no item. */
export interface Oversize {
  readonly bytes: number;
}

export function isOversize(read: object | undefined): read is Oversize {
  return read !== undefined && 'bytes' in read;
}

/** Selects items of a list. */
export interface ItemQuery extends PageBounds {
  readonly order: 'asc' | 'desc';
  /** ID of an item. Selects only items after it, in the requested order. */
  readonly after?: string | undefined;
  /** ID of an item. Selects only items before it, and of these the nearest. */
  readonly before?: string | undefined;
}

export interface ItemPage {
  readonly items: readonly JsonObject[];
  readonly hasMore: boolean;
}

/** A response in progress on a conversation, with a unique name, and its node. */
export interface ConversationRun {
  readonly run: string;
  readonly node: string;
}

/**
 * Port that stores conversations of users for all nodes. Methods return undefined if the conversation does not exist or belongs
 * to another user. Each operation is atomic, and durable after it resolves. Throws `StoreError`.
 */
export interface ConversationStore {
  /** Stores a conversation. If two items have the same ID, stores no data and returns the first such ID. */
  add(conversation: StoredConversation, items: readonly JsonObject[]): Promise<string | undefined>;
  find(ref: ConversationRef): Promise<StoredConversation | undefined>;
  setMetadata(ref: ConversationRef, metadata: JsonObject): Promise<StoredConversation | undefined>;
  /** Deletes a conversation and its items. */
  delete(ref: ConversationRef): Promise<boolean>;
  /** Appends items. If an item's ID already exists, `existingId` is the first such ID. */
  append(ref: ConversationRef, items: readonly JsonObject[]): Promise<{ readonly existingId?: string } | undefined>;
  findItem(ref: ConversationRef, item: string): Promise<JsonObject | undefined>;
  deleteItem(ref: ConversationRef, item: string): Promise<boolean>;
  /** Returns one page. `unknown` names the item of the query that does not exist. */
  readPage(ref: ConversationRef, query: ItemQuery): Promise<ItemPage | { readonly unknown: 'after' | 'before' } | undefined>;
  /** Returns all items, earliest first. */
  readAll(ref: ConversationRef, maxBytes: number): Promise<readonly JsonObject[] | Oversize | undefined>;
  /** Locks the conversation for this run. Returns `locked` if a run of a live node holds the lock. */
  begin(ref: ConversationRef, run: ConversationRun, nowMs: number): Promise<'begun' | 'locked' | undefined>;
  /** Releases the lock if this run holds it. */
  release(conversation: string, run: string): Promise<void>;
}
