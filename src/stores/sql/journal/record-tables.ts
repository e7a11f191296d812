import { type QueryExecutorProvider, sql } from 'kysely';
import type { ColumnTypes } from '../engine/column-types.ts';

/** Tables of the content of calls, the sums of usage with their progress, and the last use of keys. */
export interface RecordSchema {
  readonly call_contents: CallContentRow;
  readonly key_uses: KeyUseRow;
  readonly usage_sums: UsageSumRow;
  readonly usage_sum_periods: UsageSumPeriodRow;
}

interface CallContentRow {
  /** ID of the usage record. */
  readonly id: string;
  readonly at_ms: number;
  /** JSON, sealed for the row's id. */
  readonly sealed_content: string;
}

/** Detail of a sum: by day with the key, or by month without it. Users are left out, because there are too many of them. */
export const sumLevels = { day: 1, month: 2 } as const;

interface UsageSumRow {
  readonly level: number;
  /** Number of days since the epoch, or of months since January of year 0. */
  readonly period: number;
  readonly project: string;
  readonly deployment: string;
  /** Empty in sums of months, and if the calls have no key ID. */
  readonly key_id: string;
  /** 1 for calls that an application made. A report without deployments counts only their cost. */
  readonly is_inner: number;
  readonly calls: number;
  readonly failed_calls: number;
  readonly refused_calls: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  /** Billionths of a USD. */
  readonly cost: number;
}

interface KeyUseRow {
  readonly key_id: string;
  readonly last_used_at_ms: number;
}

interface UsageSumPeriodRow {
  /** `sumLevels.day` or `sumLevels.month`. */
  readonly level: number;
  readonly period: number;
  /** End of the time that the sums cover, in milliseconds since the epoch. */
  readonly until_ms: number;
  /** 1 when `until_ms` is the end of the period, so that reports read the sums. */
  readonly is_complete: number;
  /** 1 if a record of the day was stored after this row, so that the sums must be computed again. */
  readonly is_stale: number;
}

/** Names of the record tables. The rows of a 0.1.0 database stay in one partition, or in SQLite in one table. */
export const recordTables = {
  usage: { postgres: 'usage_records', sqlite: 'usage_records' },
  // Nodes of version 0.1.0 insert into `audit_records` by a unique ID, which only a partition can have.
  audit: { postgres: 'audit_log', sqlite: 'audit_records' },
  contents: { postgres: 'call_contents', sqlite: 'call_contents' },
} as const;

/**
 * Partitions the records by day in PostgreSQL. In SQLite, `RecordDays` creates a table for each day. Also creates the tables of
 * sums and of key uses, which are stored longer than records.
 */
export function createRecordTables({ engine, key }: ColumnTypes): readonly string[] {
  const sums = `create table usage_sums (
    level integer not null,
    period integer not null,
    project text not null,
    deployment ${key} not null,
    key_id text not null,
    is_inner integer not null,
    calls bigint not null,
    failed_calls bigint not null,
    refused_calls bigint not null,
    prompt_tokens bigint not null,
    completion_tokens bigint not null,
    cost bigint not null,
    primary key (level, period, project, deployment, key_id, is_inner)
  )${engine === 'sqlite' ? ' without rowid' : ''}`;
  const periods = `create table usage_sum_periods (
    level integer not null,
    period integer not null,
    until_ms bigint not null,
    is_complete integer not null,
    is_stale integer not null,
    primary key (level, period)
  )`;
  const keyIndex = "create index usage_sums_of_key on usage_sums (key_id, period) where key_id <> ''";
  const uses = [
    `create table key_uses (key_id ${key} not null primary key, last_used_at_ms bigint not null)`,
    'insert into key_uses select key_id, max(at_ms) from usage_records where key_id is not null group by key_id',
  ];
  return [...(engine === 'postgres' ? createPartitions() : []), sums, keyIndex, periods, ...uses];
}

/** Creates the table for the content of calls. Like the records, it has partitions or tables by day. */
export function createCallContentTable({ engine, key }: ColumnTypes): readonly string[] {
  const columns = `id ${key} not null, at_ms bigint not null, sealed_content text not null`;
  if (engine === 'postgres') return [`create table call_contents (${columns}) partition by range (at_ms)`];
  return [`create table call_contents (${columns}, primary key (id))`];
}

/**
 * Attaches the existing tables as the first partitions. Each ends with the day after the migration, or with the day after its last
 * record if that is later.
 */
function createPartitions(): readonly string[] {
  const usageIndexes = [
    'in_time',
    'of_subject',
    'of_deployment',
    'of_project',
    'unanswered',
    'of_key',
    'of_request',
    'of_session',
  ];
  return [
    'alter table usage_records rename to usage_records_before',
    ...usageIndexes.map((name) => `alter index usage_records_${name} rename to usage_records_before_${name}`),
    'create table usage_records (like usage_records_before including defaults) partition by range (at_ms)',
    'create index usage_records_in_time on usage_records (at_ms)',
    'create index usage_records_of_subject on usage_records (subject, at_ms)',
    'create index usage_records_of_deployment on usage_records (deployment, at_ms, id)',
    'create index usage_records_of_project on usage_records (project, at_ms, id)',
    "create index usage_records_unanswered on usage_records (at_ms, id) where outcome <> 'ok'",
    'create index usage_records_of_key on usage_records (key_id, at_ms, id) where key_id is not null',
    'create index usage_records_of_request on usage_records (request_id, at_ms, id)',
    'create index usage_records_of_session on usage_records (session, at_ms, id) where session is not null',
    'create table audit_log (like audit_records including defaults) partition by range (at_ms)',
    'create index audit_log_in_time on audit_log (at_ms, id)',
    attach('usage_records', 'usage_records_before'),
    attach('audit_log', 'audit_records'),
  ];
}

function attach(parent: string, partition: string): string {
  return `do $$ begin
    execute format('alter table ${parent} attach partition ${partition} for values from (minvalue) to (%s)',
      (select (greatest(floor(extract(epoch from now()) / 86400), max(at_ms) / 86400000) + 2)::bigint * 86400000 from ${partition}));
  end $$`;
}

/** Returns the statements that create a table of SQLite and its indexes. */
export async function readDefinition(kysely: QueryExecutorProvider, table: string): Promise<readonly string[]> {
  const { rows } = await sql<{ sql: string }>`select sql from sqlite_schema where tbl_name = ${table} and sql is not null
    order by type = 'table' desc`.execute(kysely);
  return rows.map((row) => row.sql);
}

/** Rewrites a statement that creates `table` or one of its indexes, so that it creates `otherTable` or its index. */
export function toStatementForTable(statement: string, table: string, otherTable: string): string {
  return statement.replaceAll(table, otherTable).replace(/^create (table|index) /i, 'create $1 if not exists ');
}

/** Returns the names of the day tables of a base table in SQLite. */
export async function listDayTables(kysely: QueryExecutorProvider, base: string): Promise<readonly string[]> {
  const { rows } = await sql<{
    name: string;
  }>`select name from sqlite_schema where type = 'table' and name glob ${`${base}_[0-9]*`}`.execute(kysely);
  return rows.map(({ name }) => name);
}

/** Adds new columns and indexes of the base tables to their day tables in SQLite. Called after a migration. */
export async function alignDayTables(kysely: QueryExecutorProvider): Promise<void> {
  for (const { sqlite: base } of Object.values(recordTables)) {
    const tables = await listDayTables(kysely, base);
    if (tables.length === 0) continue;
    const definition = await readDefinition(kysely, base);
    const columns = await readColumns(kysely, base);
    for (const name of tables) {
      const existing = new Set((await readColumns(kysely, name)).map((column) => column.name));
      for (const column of columns)
        if (!existing.has(column.name))
          await sql`alter table ${sql.table(name)} add column ${sql.ref(column.name)} ${sql.raw(column.type)}`.execute(kysely);
      for (const statement of definition.slice(1)) await sql.raw(toStatementForTable(statement, base, name)).execute(kysely);
    }
  }
}

async function readColumns(kysely: QueryExecutorProvider, table: string): Promise<readonly { name: string; type: string }[]> {
  return (await sql<{ name: string; type: string }>`select name, type from pragma_table_info(${table})`.execute(kysely)).rows;
}
