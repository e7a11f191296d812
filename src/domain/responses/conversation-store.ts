import type { JsonObject } from '#base/json/json.ts';

/** A conversation, without its items. */
export interface StoredConversation {
  readonly id: string;
  readonly subject: string;
  readonly createdAtMs: number;
  readonly metadata: JsonObject;
}

export type ConversationRef = Pick<StoredConversation, 'id' | 'subject'>;

/** Which items of a list are asked for. */
export interface ItemQuery {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** Id of an item: only those behind it, in the order asked for. */
  readonly after?: string | undefined;
  /** Id of an item: only those ahead of it, the nearest to it. */
  readonly before?: string | undefined;
}

export interface ItemPage {
  readonly items: readonly JsonObject[];
  readonly hasMore: boolean;
}

/** What is being answered on a conversation, by any name of its own, and where. */
export interface ConversationRun {
  readonly run: string;
  readonly node: string;
}

/**
 * Port: conversations of users, on all nodes. What is asked of another user's, or of one that is not there, gives undefined. Each
 * step is atomic, and durable once it resolves. Throws StoreFault.
 */
export interface ConversationStore {
  /** Gives the first id that two of the items have: then nothing is kept. */
  add(conversation: StoredConversation, items: readonly JsonObject[]): Promise<string | undefined>;
  find(ref: ConversationRef): Promise<StoredConversation | undefined>;
  setMetadata(ref: ConversationRef, metadata: JsonObject): Promise<StoredConversation | undefined>;
  /** Its items go with it. */
  delete(ref: ConversationRef): Promise<boolean>;
  /** Behind the others; `taken` names the first item whose id another one there has. */
  append(ref: ConversationRef, items: readonly JsonObject[]): Promise<{ readonly existingId?: string } | undefined>;
  findItem(ref: ConversationRef, item: string): Promise<JsonObject | undefined>;
  deleteItem(ref: ConversationRef, item: string): Promise<boolean>;
  /** One page; `unknown` names the item of the query that is not there. */
  page(ref: ConversationRef, query: ItemQuery): Promise<ItemPage | { readonly unknown: 'after' | 'before' } | undefined>;
  /** All of its items, the earliest first. */
  all(ref: ConversationRef): Promise<readonly JsonObject[] | undefined>;
  /** Makes it this run's alone and gives all of its items, the earliest first; `locked` if a living node's run has it. */
  begin(ref: ConversationRef, run: ConversationRun, nowMs: number): Promise<readonly JsonObject[] | 'locked' | undefined>;
  /** Lets others run, if this run has it. */
  release(conversation: string, run: string): Promise<void>;
}
