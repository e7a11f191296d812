import type { ColumnTypes } from '../engine/column-types.ts';

/** Tables of users and groups that identity providers provision. */
export interface ScimSchema {
  readonly scim_users: ScimUserRow;
  readonly scim_groups: ScimGroupRow;
  readonly scim_members: { readonly group_id: string; readonly user_id: string };
  readonly scim_revision: { readonly revision: number };
}

export interface ScimUserRow {
  readonly id: string;
  readonly user_name: string;
  /** `user_name` in lower case. */
  readonly folded_name: string;
  readonly external_id: string | null;
  /** 0 or 1. */
  readonly is_active: number;
  /** JSON, sealed for the ID. */
  readonly sealed_attributes: string;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

export interface ScimGroupRow extends Pick<ScimUserRow, 'id' | 'external_id' | 'created_at_ms' | 'updated_at_ms'> {
  readonly display_name: string;
  /** `display_name` in lower case. */
  readonly folded_name: string;
}

export function createScimTables({ key }: ColumnTypes): readonly string[] {
  return [
    `create table scim_users (
      id ${key} not null primary key,
      user_name text not null,
      folded_name ${key} not null unique,
      external_id ${key},
      is_active integer not null,
      sealed_attributes text not null,
      created_at_ms bigint not null,
      updated_at_ms bigint not null
    )`,
    'create index scim_users_in_time on scim_users (created_at_ms, id)',
    'create index scim_users_of_provider on scim_users (external_id)',
    `create table scim_groups (
      id ${key} not null primary key,
      display_name text not null,
      folded_name ${key} not null unique,
      external_id ${key},
      created_at_ms bigint not null,
      updated_at_ms bigint not null
    )`,
    'create index scim_groups_in_time on scim_groups (created_at_ms, id)',
    'create index scim_groups_of_provider on scim_groups (external_id)',
    `create table scim_members (
      group_id ${key} not null references scim_groups (id) on delete cascade,
      user_id ${key} not null references scim_users (id) on delete cascade,
      primary key (group_id, user_id)
    )`,
    'create index scim_groups_of_user on scim_members (user_id)',
    'create table scim_revision (revision bigint not null)',
    'insert into scim_revision (revision) values (0)',
  ];
}
