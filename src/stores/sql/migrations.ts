import { toChatTables, toShareTable } from './chats/chat-tables.ts';
import type { ColumnTypes } from './engine/column-types.ts';
import { toEvaluationTables } from './evaluations/evaluation-tables.ts';
import { toBlockedUserTable, toKeyTables } from './keys/key-tables.ts';
import { toLimitCounterTable } from './limits/limit-counter-tables.ts';
import { toResponseTables } from './responses/response-tables.ts';

/** The statements of one step of the schema. */
export type Migration = (types: ColumnTypes) => readonly string[];

/** Index n makes version n + 1. A step that was released is never changed, only followed by others. */
export const migrations: readonly Migration[] = [
  toFirstTables,
  toPassageTables,
  toApplicationVersions,
  toReservationTables,
  toUsageOfSubjects,
  toResponseTables,
  toSpellings,
  toContentsPlace,
  toEvaluationTables,
  toChatTables,
  toBackgroundList,
  toShareTable,
  toUsageLists,
  toKeyTables,
  toLimitCounterTable,
  toUsageOfKeys,
  toUsageDetails,
  toUsageOfSessions,
  toBlockedUserTable,
  toUsageOfRequests,
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

/** Words lie in a table of their own, which is an index without the text: what it finds is shown from `passages`. */
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

/** What applications were before, and which roles they name: that is found without opening what is sealed. */
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

/** Beside them a name that no other database has: a store of contents belongs to the files of one. */
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

/** Everyone may ask for their own usage: it is found without reading that of all. */
function toUsageOfSubjects(): readonly string[] {
  return ['create index usage_records_of_subject on usage_records (subject, at_ms)'];
}

/** Single calls are listed by what they were of, the newest first, however many there are; few are not answered. */
function toUsageLists(): readonly string[] {
  return [
    'create index usage_records_of_deployment on usage_records (deployment, at_ms, id)',
    'create index usage_records_of_project on usage_records (project, at_ms, id)',
    "create index usage_records_unanswered on usage_records (at_ms, id) where outcome <> 'ok'",
  ];
}

/** Creates the index with which administrators list the calls of one key without reading calls of other keys. */
function toUsageOfKeys(): readonly string[] {
  return ['create index usage_records_of_key on usage_records (key_id, at_ms, id) where key_id is not null'];
}

/** Applications are told by the ids that were written, and found by any spelling of them. */
function toSpellings(): readonly string[] {
  return ['alter table applications add column spelling text'];
}

/** Adds columns for the caches and tiers that upstreams report. */
function toUsageDetails(): readonly string[] {
  const counts = ['cache_read_tokens', 'cache_write_tokens', 'cache_write_1h_tokens'];
  const added = [...counts.map((name) => `${name} bigint`), 'service_tier text'];
  return added.map((column) => `alter table usage_records add column ${column}`);
}

/** The session or conversation of a client that its calls belong to. */
function toUsageOfSessions(): readonly string[] {
  return ['alter table usage_records add column session text'];
}

/** Indexes by which administrators find the calls of one request or session. */
function toUsageOfRequests(): readonly string[] {
  return [
    'create index usage_records_of_request on usage_records (request_id, at_ms, id)',
    'create index usage_records_of_session on usage_records (session, at_ms, id) where session is not null',
  ];
}

/** Nodes that share a database find out by it whether they share the contents of files too. */
function toContentsPlace(): readonly string[] {
  return ['alter table database_name add column contents_place text'];
}

/** Everyone may list what was made in the background for them: it is found without reading all that is stored. */
function toBackgroundList(): readonly string[] {
  return ['create index responses_in_background on responses (subject, created_at_ms, id) where is_background = 1'];
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
