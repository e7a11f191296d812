import type { ColumnTypes } from '../engine/column-types.ts';

export interface ChatSchema {
  readonly chat_owners: ChatOwnerRow;
  readonly chats: ChatRow;
  readonly chat_turns: ChatTurnRow;
  readonly chat_shares: ChatShareRow;
}

export interface ChatOwnerRow {
  readonly subject: string;
  /** Latest revision of all chats of the user. */
  readonly revision: number;
  /** Latest revision of the chats that were deleted without a remaining row. */
  readonly forgotten_revision: number;
  readonly bytes: number;
}

export interface ChatRow {
  readonly subject: string;
  readonly id: string;
  readonly revision: number;
  /** State of the chat, see `chatStates`. */
  readonly shelf: number;
  readonly updated_at_ms: number;
  /** Size of the chat including its turns. */
  readonly bytes: number;
  /** JSON of the fields that lists show, sealed for the row. Empty if the chat is deleted. */
  readonly sealed_head: string;
  /** JSON of the other fields, sealed for the row. */
  readonly sealed_rest: string;
}

export interface ChatTurnRow {
  readonly subject: string;
  readonly chat: string;
  readonly id: string;
  readonly revision: number;
  readonly bytes: number;
  /** JSON, sealed for the row. */
  readonly sealed_turn: string;
}

export interface ChatShareRow {
  readonly subject: string;
  readonly id: string;
  readonly chat: string;
  /** Hash of the token in the link. The token itself is not stored. */
  readonly token_hash: string;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  readonly bytes: number;
  /** JSON, sealed for the row. */
  readonly sealed_title: string;
  readonly sealed_content: string;
}

/**
 * Creates the tables of chats, with one row per turn. A user's row in `chat_owners` holds the counters. Its lock serializes the user's
 * writes, so that revisions become visible in order.
 */
export function createChatTables({ key }: ColumnTypes): readonly string[] {
  return [
    `create table chat_owners (
      subject ${key} not null primary key,
      revision bigint not null,
      forgotten_revision bigint not null,
      bytes bigint not null
    )`,
    `create table chats (
      subject ${key} not null,
      id ${key} not null,
      revision bigint not null,
      shelf integer not null,
      updated_at_ms bigint not null,
      bytes bigint not null,
      sealed_head text not null,
      sealed_rest text not null,
      primary key (subject, id)
    )`,
    'create index chats_listed on chats (subject, shelf, updated_at_ms, id)',
    'create index chats_changed on chats (subject, revision)',
    `create table chat_turns (
      subject ${key} not null,
      chat ${key} not null,
      id ${key} not null,
      revision bigint not null,
      bytes bigint not null,
      sealed_turn text not null,
      primary key (subject, chat, id)
    )`,
  ];
}

/** Creates the table of chats that are shared by links. Shares are deleted with their chat. */
export function createShareTable({ key }: ColumnTypes): readonly string[] {
  return [
    `create table chat_shares (
      subject ${key} not null,
      id ${key} not null,
      chat ${key} not null,
      token_hash ${key} not null unique,
      created_at_ms bigint not null,
      expires_at_ms bigint not null,
      bytes bigint not null,
      sealed_title text not null,
      sealed_content text not null,
      primary key (subject, id)
    )`,
    'create index chat_shares_expired on chat_shares (expires_at_ms)',
  ];
}
