import type { JsonObject } from '#base/json/json.ts';
import type { ChatRef } from './chat-store.ts';

/** Copy of a chat for sharing. Later changes to the chat do not affect it. */
export interface ChatSnapshot {
  readonly title: string;
  readonly deployment: string;
  /** Turns of the visible branch, oldest first. An attachment that is a file of the owner has the file's index in `file`. */
  readonly turns: readonly JsonObject[];
  readonly files: readonly SharedFile[];
}

/** A file in the owner's bucket that the snapshot includes. */
export interface SharedFile {
  readonly path: string;
  /** ETag of the shared content. Other content at the same path is not shared. */
  readonly etag: string;
}

/** Properties of a share that its owner sees. Only recipients of the link know the token. */
export interface ChatShare {
  readonly id: string;
  readonly chat: string;
  readonly title: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

export interface NewShare extends Omit<ChatShare, 'chat' | 'title'> {
  readonly tokenHash: string;
  readonly snapshot: ChatSnapshot;
  /** Revision of the chat that the snapshot was created from. */
  readonly revision: number;
}

export interface ShareBounds {
  readonly maxPerUser: number;
  readonly maxBytesPerUser: number;
}

/** A share as visitors with its token see it. */
export interface OpenedShare {
  readonly subject: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly snapshot: ChatSnapshot;
}

/**
 * Port that stores encrypted snapshots of chats. A share ends when it expires, when it is revoked, or when its chat is deleted.
 * Throws `StoreError`.
 */
export interface ShareStore {
  /** Returns `changed` if the chat changed after the snapshot was created. */
  share(chatRef: ChatRef, share: NewShare, bounds: ShareBounds): Promise<'shared' | 'changed' | 'full'>;
  /** Returns the shares of a user, latest first. */
  listShares(subject: string, nowMs: number): Promise<readonly ChatShare[]>;
  revoke(subject: string, id: string, nowMs: number): Promise<boolean>;
  openShare(tokenHash: string, nowMs: number): Promise<OpenedShare | undefined>;
}
