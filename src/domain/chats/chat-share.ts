import type { JsonObject } from '#base/json/json.ts';
import type { ChatRef } from './chat-store.ts';

/** What of a chat is shared: a copy, which nothing that is written later changes. */
export interface ChatSnapshot {
  readonly title: string;
  readonly deployment: string;
  /** The branch that was shown, oldest first; an attachment that is a file of the owner has its number in `file`. */
  readonly turns: readonly JsonObject[];
  readonly files: readonly SharedFile[];
}

/** A file in the bucket of the owner that the snapshot shows. */
export interface SharedFile {
  readonly path: string;
  /** Of the content that was shared; another one at its path is not. */
  readonly etag: string;
}

/** What its owner sees of a share. The token is known to those alone who were given it. */
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
  /** The revision of the chat that the snapshot was made of. */
  readonly revision: number;
}

export interface ShareBounds {
  readonly maxPerUser: number;
  readonly maxBytesPerUser: number;
}

/** A share as those see it who have its token. */
export interface OpenedShare {
  readonly subject: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly snapshot: ChatSnapshot;
}

/** Port: snapshots of chats, sealed. What is gone with its chat, expired or revoked is nowhere. Throws StoreFault. */
export interface ShareStore {
  /** `changed`: the chat is not what the snapshot was made of any more. */
  share(chatRef: ChatRef, share: NewShare, bounds: ShareBounds): Promise<'shared' | 'changed' | 'full'>;
  /** Those of a user, the latest first. */
  shares(subject: string, nowMs: number): Promise<readonly ChatShare[]>;
  revoke(subject: string, id: string, nowMs: number): Promise<boolean>;
  openShare(tokenHash: string, nowMs: number): Promise<OpenedShare | undefined>;
}
