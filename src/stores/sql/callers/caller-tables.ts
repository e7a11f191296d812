import type { Generated } from 'kysely';
import type { ColumnTypes } from '../engine/column-types.ts';

/** Tables of user keys, blocked users, and the people who have signed in. */
export interface CallerSchema {
  readonly api_keys: KeyRow;
  readonly api_key_changes: KeyChangeRow;
  readonly blocked_users: BlockedUserRow;
  readonly people: PersonRow;
  readonly person_roles: { readonly role: string; readonly person: string };
}

export interface KeyRow {
  readonly id: string;
  /** Kind of the owner. Always `user`. */
  readonly source: string;
  /** User subject. */
  readonly owner: string;
  /** SHA-256 in hexadecimal. */
  readonly digest: string;
  /** Digest of the key before the last rotation. Accepted until `former_until_ms`. */
  readonly former_digest: string | null;
  readonly former_until_ms: number | null;
  /** Incremented with each rotation. */
  readonly version: number;
  /** Revision of the last change that nodes must read. A use of the key is no such change. */
  readonly revision: number;
  readonly prefix: string;
  readonly name: string;
  readonly project: string;
  /** JSON array. */
  readonly roles: string;
  readonly signed_in_at_ms: number;
  /** JSON array. Null means all deployments that the owner may use. */
  readonly deployments: string | null;
  /** JSON array. Null means any address. */
  readonly allowed_ips: string | null;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  readonly last_used_at_ms: number | null;
  /** Null if the key is not deleted. The row stays for a while, so that running nodes read the deletion. */
  readonly deleted_at_ms: number | null;
}

interface KeyChangeRow {
  /** Latest revision. The lock of this row serializes writes, so that revisions become visible in order. */
  readonly revision: number;
  /** Latest revision of the blocked users. */
  readonly users_revision: Generated<number>;
}

interface BlockedUserRow {
  readonly subject: string;
  readonly reason: string | null;
  readonly blocked_at_ms: number;
  readonly blocked_by: string;
}

interface PersonRow {
  /** User subject. */
  readonly id: string;
  readonly name: string | null;
  readonly address: string | null;
  /** `name`, or `id` if there is none, in lower case and without accents. */
  readonly folded_name: string;
  /** `address` in lower case. */
  readonly folded_address: string | null;
  /** Null if the token had no project. */
  readonly project: string | null;
  readonly seen_at_ms: number;
}

/** Creates the tables of keys, and adds the key of a call to the usage records. Every node polls the revision to find changes. */
export function createKeyTables({ key }: ColumnTypes): readonly string[] {
  return [
    `create table api_keys (
      id ${key} not null primary key,
      source text not null,
      owner ${key} not null,
      digest ${key} not null unique,
      former_digest text,
      former_until_ms bigint,
      version integer not null,
      revision bigint not null,
      prefix text not null,
      name text not null,
      project text not null,
      roles text not null,
      signed_in_at_ms bigint not null,
      deployments text,
      allowed_ips text,
      created_at_ms bigint not null,
      expires_at_ms bigint not null,
      last_used_at_ms bigint,
      deleted_at_ms bigint
    )`,
    'create index api_keys_of_owner on api_keys (owner, created_at_ms)',
    'create index api_keys_changed on api_keys (revision)',
    'create table api_key_changes (revision bigint not null)',
    'insert into api_key_changes (revision) values (0)',
    'alter table usage_records add column key_id text',
  ];
}

/** Creates the table of blocked users with their revision, and the index for listing the keys of all users. */
export function createBlockedUserTable({ key }: ColumnTypes): readonly string[] {
  return [
    `create table blocked_users (
      subject ${key} not null primary key,
      reason text,
      blocked_at_ms bigint not null,
      blocked_by ${key} not null
    )`,
    'create index blocked_users_in_time on blocked_users (blocked_at_ms, subject)',
    'alter table api_key_changes add column users_revision bigint not null default 0',
    'create index api_keys_in_time on api_keys (created_at_ms, id)',
  ];
}

/** Creates the tables of people and their roles, and of the users that applications are shared with. */
export function createPeopleTables({ key }: ColumnTypes): readonly string[] {
  return [
    `create table people (
      id ${key} not null primary key,
      name text,
      address text,
      folded_name text not null,
      folded_address ${key},
      project ${key},
      seen_at_ms bigint not null
    )`,
    'create index people_with_address on people (folded_address)',
    'create index people_of_project on people (project)',
    'create index people_seen on people (seen_at_ms)',
    `create table person_roles (
      role ${key} not null,
      person ${key} not null references people (id) on delete cascade,
      primary key (role, person)
    )`,
    'create index person_roles_of_person on person_roles (person)',
    `create table application_users (
      user_id ${key} not null,
      application ${key} not null references applications (id) on delete cascade,
      primary key (user_id, application)
    )`,
    'create index application_users_of_application on application_users (application)',
  ];
}
