import { toEntryTables, toFirstWrites } from './administration/entry-tables.ts';
import { toAlertAttempts, toAlertTable } from './alerts/alert-tables.ts';
import { toChatTables, toShareTable } from './chats/chat-tables.ts';
import type { ColumnTypes } from './engine/column-types.ts';
import { toEvaluationTables } from './evaluations/evaluation-tables.ts';
import { toCallContentTable, toRecordTables } from './journal/record-tables.ts';
import { toBlockedUserTable, toKeyTables } from './keys/key-tables.ts';
import { toLimitCounterTable } from './limits/limit-counter-tables.ts';
import { toNodeTables } from './nodes/node-tables.ts';
import { toPeopleTables } from './people/people-tables.ts';
import { toResponseTables } from './responses/response-tables.ts';
import { toScimTables } from './scim/scim-tables.ts';

/** Returns the statements of one migration. */
export type Migration = (types: ColumnTypes) => readonly string[];

/** Index n creates version n + 1. Never change a released migration. Append a new one instead. */
export const migrations: readonly Migration[] = [
  toFirstTables,
  toPassageTables,
  toApplicationVersions,
  toReservationTables,
  // Users may query their own usage. The index finds it without reading the usage of all users.
  () => ['create index usage_records_of_subject on usage_records (subject, at_ms)'],
  toResponseTables,
  // Adds the original spelling of IDs. Applications are found by any spelling and shown with the original one.
  () => ['alter table applications add column spelling text'],
  // Adds the location of file contents. Nodes that share a database use it to check whether they also share the contents.
  () => ['alter table database_name add column contents_place text'],
  toEvaluationTables,
  toChatTables,
  // Users may list their background responses. The index finds them without reading all responses.
  () => ['create index responses_in_background on responses (subject, created_at_ms, id) where is_background = 1'],
  toShareTable,
  // Creates indexes for listing calls, newest first, by deployment or project, and for the few unanswered calls.
  () => [
    'create index usage_records_of_deployment on usage_records (deployment, at_ms, id)',
    'create index usage_records_of_project on usage_records (project, at_ms, id)',
    "create index usage_records_unanswered on usage_records (at_ms, id) where outcome <> 'ok'",
  ],
  toKeyTables,
  toLimitCounterTable,
  // Creates an index for listing the calls of one key without reading calls of other keys.
  () => ['create index usage_records_of_key on usage_records (key_id, at_ms, id) where key_id is not null'],
  toUsageDetails,
  // Adds the client's session or conversation of a call.
  () => ['alter table usage_records add column session text'],
  toBlockedUserTable,
  // Creates indexes for finding the calls of one request or session.
  () => [
    'create index usage_records_of_request on usage_records (request_id, at_ms, id)',
    'create index usage_records_of_session on usage_records (session, at_ms, id) where session is not null',
  ],
  toEntryTables,
  toRecordTables,
  toNodeTables,
  toScimTables,
  // Adds the tags of a call.
  () => ['alter table usage_records add column tags text'],
  toAlertTable,
  toCallContentTable,
  toFirstWrites,
  toAlertAttempts,
  // Chat runs of a user that have not ended are counted when another one starts.
  () => ['create index chat_runs_under_way on responses (subject) where is_background = 2 and owner is not null'],
  toPeopleTables,
];

function toFirstTables({ key }: ColumnTypes): readonly string[] {
  return [
    `create table consents (
      subject ${key} not null,
      deployment ${key} not null,
      form text not null,
      accepted_at_ms bigint not null,
      primary key (subject, deployment)
    )`,
    `create table applications (
      id ${key} not null primary key,
      owner ${key} not null,
      sealed_entry text not null,
      etag text not null,
      created_at_ms bigint not null,
      updated_at_ms bigint not null
    )`,
    'create index applications_of_owner on applications (owner, id)',
    `create table buckets (
      bucket ${key} not null primary key,
      used_bytes bigint not null
    )`,
    `create table files (
      bucket ${key} not null references buckets (bucket),
      path ${key} not null,
      content_type text not null,
      content_length bigint not null,
      etag text not null,
      blob text not null,
      created_at_ms bigint not null,
      updated_at_ms bigint not null,
      primary key (bucket, path)
    )`,
    `create table usage_records (
      id ${key} not null primary key,
      request_id text not null,
      at_ms bigint not null,
      subject ${key} not null,
      project text not null,
      deployment ${key} not null,
      path text not null,
      operation text not null,
      outcome text not null,
      status integer not null,
      prompt_tokens bigint not null,
      completion_tokens bigint not null,
      cost bigint not null,
      duration_ms double precision not null
    )`,
    'create index usage_records_in_time on usage_records (at_ms)',
    `create table audit_records (
      id ${key} not null primary key,
      at_ms bigint not null,
      action text not null,
      subject text,
      object text,
      request_id text,
      details text not null
    )`,
    'create index audit_records_in_time on audit_records (at_ms, id)',
  ];
}

/** Words are in a separate table, which is an index without the text. Results are read from `passages`. */
function toPassageTables({ key, engine }: ColumnTypes): readonly string[] {
  return [
    `create table file_contents (
    blob ${key} not null primary key,
    content ${key} not null
  )`,
    'create index file_contents_alike on file_contents (content)',
    `create table indexed_documents (
    id ${key} not null primary key,
    content ${key} not null,
    title text not null,
    format text not null,
    passages integer not null,
    tokens integer not null,
    note text,
    failure text,
    is_whole integer not null
  )`,
    `create table passages (
    id ${engine === 'sqlite' ? 'integer primary key' : 'bigint generated always as identity primary key'},
    document ${key} not null,
    nth integer not null,
    page integer,
    headings text not null,
    text text not null,
    unique (document, nth)
  )`,
    `create table passage_vectors (
    document ${key} not null,
    model ${key} not null,
    first integer not null,
    count integer not null,
    vectors ${engine === 'sqlite' ? 'blob' : 'bytea'} not null,
    primary key (document, model, first)
  )`,
    `create table leases (
    name ${key} not null primary key,
    owner text not null,
    until_ms bigint not null
  )`,
    ...wordTables[engine](key),
  ];
}

/** Adds former versions and roles of applications, so that applications of a role are found without decrypting them. */
function toApplicationVersions({ key }: ColumnTypes): readonly string[] {
  return [
    'alter table applications add column version integer not null default 1',
    'alter table applications add column roles_etag text',
    'create index applications_of_unknown_roles on applications (id) where roles_etag is distinct from etag',
    `create table application_versions (
      application ${key} not null references applications (id) on delete cascade,
      version integer not null,
      sealed_entry text not null,
      etag text not null,
      saved_at_ms bigint not null,
      primary key (application, version)
    )`,
    `create table application_roles (
      role ${key} not null,
      application ${key} not null references applications (id) on delete cascade,
      primary key (role, application)
    )`,
    'create index application_roles_of_application on application_roles (application)',
  ];
}

/** Also adds a unique name of the database, because a store of contents belongs to the files of one database. */
function toReservationTables({ key, engine }: ColumnTypes): readonly string[] {
  return [
    `create table file_reservations (
      blob ${key} not null primary key,
      bucket ${key} not null references buckets (bucket),
      path ${key} not null,
      reserved_bytes bigint not null,
      replaced_bytes bigint not null,
      until_ms bigint not null
    )`,
    'create index file_reservations_of_bucket on file_reservations (bucket)',
    'create table database_name (name text not null)',
    `insert into database_name (name) values (${engine === 'sqlite' ? 'lower(hex(randomblob(16)))' : 'gen_random_uuid()::text'})`,
  ];
}

/** Adds columns for the caches and tiers that upstreams report. */
function toUsageDetails(): readonly string[] {
  const counts = ['cache_read_tokens', 'cache_write_tokens', 'cache_write_1h_tokens'];
  const added = [...counts.map((name) => `${name} bigint`), 'service_tier text'];
  return added.map((column) => `alter table usage_records add column ${column}`);
}

const wordTables: Readonly<Record<ColumnTypes['engine'], (key: string) => readonly string[]>> = {
  sqlite: () => [
    "create virtual table passage_words using fts5(document, words, content='', contentless_delete=1, tokenize='porter unicode61')",
    `create trigger passages_dropped after delete on passages begin
      delete from passage_words where rowid = old.id;
    end`,
  ],
  postgres: (key) => [
    `create table passage_words (
      id bigint not null primary key references passages (id) on delete cascade,
      document ${key} not null,
      words tsvector not null
    )`,
    'create index passage_words_of_document on passage_words (document)',
    'create index passage_words_found on passage_words using gin (words)',
  ],
};
