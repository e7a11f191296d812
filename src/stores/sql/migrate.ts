import { type Kysely, sql } from 'kysely';
import { addFirstWrites, createEntryTables, createNodeTables } from './administration/administration-tables.ts';
import { createBlockedUserTable, createKeyTables, createPeopleTables } from './callers/caller-tables.ts';
import { createChatTables, createShareTable } from './chats/chat-tables.ts';
import type { ColumnTypes } from './engine/column-types.ts';
import { createEvaluationTables } from './evaluations/evaluation-tables.ts';
import { alignDayTables, createCallContentTable, createRecordTables } from './journal/record-tables.ts';
import { addAlertAttempts, createAlertTable, createLimitCounterTable } from './limits/limit-tables.ts';
import { createPassageTables } from './passages/passage-tables.ts';
import { createResponseTables } from './responses/response-tables.ts';
import type { Schema } from './schema.ts';
import { createScimTables } from './scim/scim-tables.ts';

/** A later version of Parley created the database. The message may be shown to clients. */
export class NewerDatabaseError extends Error {
  override readonly name = 'NewerDatabaseError';
}

export interface MigrationDeps {
  readonly types: ColumnTypes;
  /** Makes other nodes that want to migrate wait until the transaction ends. */
  readonly lock: (transaction: Kysely<Schema>) => Promise<void>;
}

/** Throws `NewerDatabaseError` if this program does not support the schema version. */
export function requireSupportedSchema(version: number): void {
  if (version <= migrations.length) return;
  throw new NewerDatabaseError(
    `the database has schema version ${version}, but this program supports versions up to ${migrations.length}. ` +
      'Start the version of Parley that created it or a later one, or use another database',
  );
}

/** Migrates the tables to the version of this program in one transaction. Throws `NewerDatabaseError`. */
export async function migrate(kysely: Kysely<Schema>, { types, lock }: MigrationDeps): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    await lock(transaction);
    const { schema } = transaction;
    await schema
      .createTable('parley_migrations')
      .ifNotExists()
      .addColumn('version', 'integer', (column) => column.primaryKey())
      .addColumn('applied_at', 'timestamp', (column) => column.defaultTo(sql`current_timestamp`))
      .execute();
    const latest = await transaction
      .selectFrom('parley_migrations')
      .select(({ fn }) => fn.max('version').as('version'))
      .executeTakeFirst();
    const done = latest?.version ?? 0;
    requireSupportedSchema(done);
    for (const [index, statements] of migrations.entries()) {
      if (index < done) continue;
      for (const statement of statements(types)) await sql.raw(statement).execute(transaction);
      await transaction
        .insertInto('parley_migrations')
        .values({ version: index + 1 })
        .execute();
    }
    if (types.engine === 'sqlite' && done < migrations.length) await alignDayTables(transaction);
  });
}

/** Returns the statements of one migration. */
type Migration = (types: ColumnTypes) => readonly string[];

/** Index n creates version n + 1. Never change a released migration. Append a new one instead. */
const migrations: readonly Migration[] = [
  createFirstTables,
  createPassageTables,
  addApplicationVersions,
  createReservationTables,
  // Users may query their own usage. The index finds it without reading the usage of all users.
  () => ['create index usage_records_of_subject on usage_records (subject, at_ms)'],
  createResponseTables,
  // Adds the original spelling of IDs. Applications are found by any spelling and shown with the original one.
  () => ['alter table applications add column spelling text'],
  // Adds the location of file contents. Nodes that share a database use it to check whether they also share the contents.
  () => ['alter table database_name add column contents_place text'],
  createEvaluationTables,
  createChatTables,
  // Users may list their background responses. The index finds them without reading all responses.
  () => ['create index responses_in_background on responses (subject, created_at_ms, id) where is_background = 1'],
  createShareTable,
  // Creates indexes for listing calls, newest first, by deployment or project, and for the few unanswered calls.
  () => [
    'create index usage_records_of_deployment on usage_records (deployment, at_ms, id)',
    'create index usage_records_of_project on usage_records (project, at_ms, id)',
    "create index usage_records_unanswered on usage_records (at_ms, id) where outcome <> 'ok'",
  ],
  createKeyTables,
  createLimitCounterTable,
  // Creates an index for listing the calls of one key without reading calls of other keys.
  () => ['create index usage_records_of_key on usage_records (key_id, at_ms, id) where key_id is not null'],
  addUsageDetails,
  // Adds the client's session or conversation of a call.
  () => ['alter table usage_records add column session text'],
  createBlockedUserTable,
  // Creates indexes for finding the calls of one request or session.
  () => [
    'create index usage_records_of_request on usage_records (request_id, at_ms, id)',
    'create index usage_records_of_session on usage_records (session, at_ms, id) where session is not null',
  ],
  createEntryTables,
  createRecordTables,
  createNodeTables,
  createScimTables,
  // Adds the tags of a call.
  () => ['alter table usage_records add column tags text'],
  createAlertTable,
  createCallContentTable,
  addFirstWrites,
  addAlertAttempts,
  // Chat runs of a user that have not ended are counted when another one starts.
  () => ['create index chat_runs_under_way on responses (subject) where is_background = 2 and owner is not null'],
  createPeopleTables,
];

function createFirstTables({ key }: ColumnTypes): readonly string[] {
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

/** Adds former versions and roles of applications, so that applications of a role are found without decrypting them. */
function addApplicationVersions({ key }: ColumnTypes): readonly string[] {
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

/** Creates the reservations of uploads, and the unique name of the database. File contents belong to one database. */
function createReservationTables({ key, engine }: ColumnTypes): readonly string[] {
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
function addUsageDetails(): readonly string[] {
  const counts = ['cache_read_tokens', 'cache_write_tokens', 'cache_write_1h_tokens'];
  const added = [...counts.map((name) => `${name} bigint`), 'service_tier text'];
  return added.map((column) => `alter table usage_records add column ${column}`);
}
