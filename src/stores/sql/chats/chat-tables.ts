import type { ColumnTypes } from '../engine/column-types.ts';

/**
 * Tables of chats, with one row per turn. A user's row in `chat_owners` holds the counters. Its lock serializes the user's
 * writes, so that revisions become visible in order.
 */
export function toChatTables({ key }: ColumnTypes): readonly string[] {
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

/** Table of chats that are shared by links. Shares are deleted with their chat. */
export function toShareTable({ key }: ColumnTypes): readonly string[] {
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
