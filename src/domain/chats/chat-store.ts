import type { JsonObject } from '#base/json/json.ts';
import type { ChatTurn } from '#contract/page/stored-chat.ts';
import type { WriteCondition } from '../files/write-condition.ts';

/** A chat of a user. */
export interface ChatRef {
  readonly subject: string;
  readonly id: string;
}

/**
 * Properties of a chat that lists include. Each change by a user gives the changed chat a higher revision than all other chats
 * of the user.
 */
export interface ChatHead {
  readonly id: string;
  readonly revision: number;
  readonly updatedAtMs: number;
  readonly pinned: boolean;
  readonly archived: boolean;
  /** `title`, `deployment`, `createdAtMs`, and `tags`. Values that are not set are absent. */
  readonly fields: JsonObject;
}

/** A chat that was deleted. */
export interface DeletedChat {
  readonly id: string;
  readonly revision: number;
  readonly deleted: true;
}

export interface StoredChat {
  readonly head: ChatHead;
  /** Fields that lists do not include. */
  readonly extra: JsonObject;
  readonly turns: readonly JsonObject[];
}

/** Changes that a write applies to a chat. */
export interface ChatChange {
  readonly updatedAtMs: number;
  readonly pinned?: boolean;
  readonly archived?: boolean;
  readonly fields: JsonObject;
  readonly extra: JsonObject;
  readonly turns: readonly ChatTurn[];
}

export interface ChatBounds {
  readonly maxBytesPerChat: number;
  readonly maxBytesPerUser: number;
}

export type ChatWriteOutcome =
  | { readonly outcome: 'written'; readonly head: ChatHead }
  | { readonly outcome: 'condition_failed' }
  | { readonly outcome: 'chat_full' | 'user_full' };

/** Position after which the next page of a list starts. */
export interface ChatCursor {
  /** Stored number for pinned, archived, or neither. A list has pinned chats before all others. */
  readonly shelf: number;
  readonly updatedAtMs: number;
  readonly id: string;
}

export interface ChatListQuery {
  readonly limit: number;
  readonly archived: boolean;
  readonly after: ChatCursor | undefined;
}

export interface ChatSearchQuery extends ChatListQuery {
  /** Lower-case words. Each must occur in the title, in a tag, or in a turn. */
  readonly words: readonly string[];
  /** Whether the first results include an excerpt around the words. */
  readonly excerpts?: boolean;
  /** Aborted when the client disconnects. */
  readonly signal?: AbortSignal;
}

export interface ChatListPage {
  readonly chats: readonly ChatHead[];
  /** Undefined after the last page. A page of search results may be empty and still have a next page. */
  readonly next: ChatCursor | undefined;
  /** Excerpts by ID of the chat, for search results. */
  readonly excerpts?: ReadonlyMap<string, string>;
}

export interface ChatChanges {
  readonly changes: readonly (ChatHead | DeletedChat)[];
  /** Revision from which the next query continues. */
  readonly revision: number;
  readonly hasMore: boolean;
  /** Whether deletions after the requested revision may be missing. The client must then reload all chats. */
  readonly isGap: boolean;
}

/** Port that stores the encrypted chats of users, one row per turn. Throws `StoreError`. */
export interface ChatStore {
  /** Returns one page: pinned chats first, and the latest first within each group. */
  list(subject: string, query: ChatListQuery): Promise<ChatListPage>;
  /**
   * Returns one page of the chats that contain all words, in the order of `list`. Each page searches a bounded number of chats.
   */
  search(subject: string, query: ChatSearchQuery): Promise<ChatListPage>;
  /** Returns the latest revision of the user's chats, or 0 before the first. */
  readRevision(subject: string): Promise<number>;
  /** Returns changes after revision `since`, in the order of revisions. */
  readChanges(subject: string, since: number, limit: number): Promise<ChatChanges>;
  /** Returns the chat with the turns after revision `since`, in the order in which they were created. */
  readChat(chatRef: ChatRef, since: number): Promise<StoredChat | undefined>;
  write(chatRef: ChatRef, change: ChatChange, options: ChatBounds & { condition: WriteCondition }): Promise<ChatWriteOutcome>;
  delete(chatRef: ChatRef, condition: WriteCondition, nowMs: number): Promise<'deleted' | 'absent' | 'condition_failed'>;
  /** Deletes all chats of a user. */
  deleteAll(subject: string): Promise<void>;
}
