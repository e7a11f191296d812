import type { JsonObject } from '#base/json/json.ts';
import type { ChatTurn } from '#contract/page/stored-chat.ts';
import type { WriteCondition } from '../files/write-condition.ts';

/** A chat of a user. */
export interface ChatRef {
  readonly subject: string;
  readonly id: string;
}

/** What a list shows of a chat. Every change of anything that a user has gives the changed chat a higher revision. */
export interface ChatHead {
  readonly id: string;
  readonly revision: number;
  readonly updatedAtMs: number;
  readonly pinned: boolean;
  readonly archived: boolean;
  /** `title`, `deployment`, `createdAtMs`, `tags`, as far as they were given. */
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
  /** Fields that lists do not show. */
  readonly rest: JsonObject;
  readonly turns: readonly JsonObject[];
}

/** What a write changes. */
export interface ChatChange {
  readonly updatedAtMs: number;
  readonly pinned?: boolean;
  readonly archived?: boolean;
  readonly fields: JsonObject;
  readonly rest: JsonObject;
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

/** Where a list goes on. */
export interface ChatCursor {
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
  /** Each must stand in the title, a tag or a turn; in lower case. */
  readonly words: readonly string[];
  /** Whether the first ones have a line of what was said around the words. */
  readonly excerpts?: boolean;
  /** Aborted when nobody waits for it any more. */
  readonly signal?: AbortSignal;
}

export interface ChatListPage {
  readonly chats: readonly ChatHead[];
  /** Undefined behind the last. A page of a search may be empty and have one. */
  readonly next: ChatCursor | undefined;
  /** By the ids of chats that a search has found. */
  readonly excerpts?: ReadonlyMap<string, string>;
}

export interface ChatChanges {
  readonly changes: readonly (ChatHead | DeletedChat)[];
  /** What to go on from. */
  readonly revision: number;
  readonly hasMore: boolean;
  /** What was deleted since is not known any more: whoever follows begins anew. */
  readonly isGap: boolean;
}

/** Port: the chats of users, a turn a row, sealed. Throws StoreFault. */
export interface ChatStore {
  /** The pinned ones first, else the latest first. */
  list(subject: string, query: ChatListQuery): Promise<ChatListPage>;
  /** The same, as far as words stand in them. Looks through a bounded part with each page. */
  search(subject: string, query: ChatSearchQuery): Promise<ChatListPage>;
  /** The latest revision of anything that a user has; 0 before the first. */
  revision(subject: string): Promise<number>;
  /** What has a higher revision, in the order of revisions. */
  changes(subject: string, since: number, limit: number): Promise<ChatChanges>;
  /** The turns are those with a revision above `since`, in the order they were made. */
  read(chatRef: ChatRef, since: number): Promise<StoredChat | undefined>;
  write(chatRef: ChatRef, change: ChatChange, options: ChatBounds & { condition: WriteCondition }): Promise<ChatWriteOutcome>;
  delete(chatRef: ChatRef, condition: WriteCondition, nowMs: number): Promise<'deleted' | 'absent' | 'condition_failed'>;
  /** Everything that a user has. */
  deleteAll(subject: string): Promise<void>;
}
