import type { ColumnTypes } from '../engine/column-types.ts';

/** Tables of the people who have signed in, and of the users that applications list. */
export interface PeopleSchema {
  readonly people: PersonRow;
  readonly person_roles: { readonly role: string; readonly person: string };
  /** A user that an application lists. The row is deleted with the application. */
  readonly application_users: { readonly user_id: string; readonly application: string };
}

interface PersonRow {
  /** User subject. */
  readonly id: string;
  readonly name: string | null;
  readonly address: string | null;
  /** Name and address without case and accents. */
  readonly folded_name: string;
  readonly folded_address: string | null;
  /** Null if the token had no project. */
  readonly project: string | null;
  readonly seen_at_ms: number;
}

export function toPeopleTables({ key }: ColumnTypes): readonly string[] {
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
