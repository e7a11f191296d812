import { CompiledQuery, type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { ratedAction } from '#contract/features-request.ts';
import type { CallOutcome, Operation } from '#domain/telemetry.ts';
import type {
  AuditQuery,
  AuditRecord,
  CallsQuery,
  Journal,
  UsageAmounts,
  UsageFilter,
  UsageKey,
  UsageQuery,
  UsageRecord,
  UsageSum,
} from '#domain/usage/journal.ts';
import { fromRecordJson, fromRecordList, toRecordJson } from '../engine/read-entry.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import type { AuditRow, Schema, UsageRow } from '../schema.ts';

/**
 * Each statement is synced to disk, so many rows in one statement cost up to a third less. This number of rows takes two
 * milliseconds in the SQLite thread.
 */
const rowsPerStatement = 500;

/** Usage and audit journal, one row per record. Only a later rating replaces an existing record. */
export class SqlJournal implements Journal {
  readonly #database: SqlDatabase;
  #fullUsageInsert: string | undefined;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  appendUsage(records: readonly UsageRecord[]): Promise<void> {
    return this.#append(records, (step) =>
      this.#database.run((kysely) => {
        const rows = step.map(toUsageRow);
        return kysely.executeQuery(CompiledQuery.raw(this.#usageInsert(kysely, rows), rows.flatMap(Object.values)));
      }),
    );
  }

  /** Returns the insert statement. It is compiled once for a full batch, because that takes longer than running it. */
  #usageInsert(kysely: Kysely<Schema>, rows: readonly UsageRow[]): string {
    if (rows.length === rowsPerStatement && this.#fullUsageInsert !== undefined) return this.#fullUsageInsert;
    const insert = kysely.insertInto('usage_records').values(rows);
    const { sql: text } = insert.onConflict((conflict) => conflict.doNothing()).compile();
    if (rows.length === rowsPerStatement) this.#fullUsageInsert = text;
    return text;
  }

  appendAudit(records: readonly AuditRecord[]): Promise<void> {
    return this.#append(records, (step) =>
      this.#database.run((kysely) =>
        kysely
          .insertInto('audit_records')
          .values(toUniqueRows(step))
          .onConflict((conflict) =>
            conflict
              .column('id')
              .doUpdateSet(({ ref }) => ({
                at_ms: ref('excluded.at_ms'),
                request_id: ref('excluded.request_id'),
                details: ref('excluded.details'),
              }))
              .where('audit_records.action', '=', ratedAction)
              .whereRef('excluded.at_ms', '>', 'audit_records.at_ms'),
          )
          .execute(),
      ),
    );
  }

  async sumUsage<Key extends UsageKey>(query: UsageQuery<Key>): Promise<readonly UsageSum<Key>[]> {
    const { fromMs, toMs, ...rest } = query;
    const within = { fromMs: toBound(fromMs), toMs: toBound(toMs), ...toStorableFilter(query) };
    return this.#database.run((kysely) => sumUsage(kysely, { ...rest, ...within }));
  }

  async listCalls({ fromMs, toMs, before, ...rest }: CallsQuery): Promise<readonly UsageRecord[]> {
    const beforeRecord = before && { atMs: toBound(before.atMs), id: toStorable(before.id) };
    // Bounds the time on both ends, because not every index contains the ID after the time.
    const endMs = Math.min(toBound(toMs), (beforeRecord?.atMs ?? Number.MAX_SAFE_INTEGER - 1) + 1);
    const query = { ...rest, ...toStorableFilter(rest), before: beforeRecord, fromMs: toBound(fromMs), toMs: endMs };
    return this.#database.run((kysely) => listCalls(kysely, query));
  }

  async readAudit({ beforeMs, beforeId = '', kind, limit }: AuditQuery): Promise<readonly AuditRecord[]> {
    const [atMs, id] = [toBound(beforeMs), toStorable(beforeId)];
    const rows = await this.#database.run((kysely) => {
      const older = kysely
        .selectFrom('audit_records')
        .selectAll()
        .where(({ eb, and, or }) => or([eb('at_ms', '<', atMs), and([eb('at_ms', '=', atMs), eb('id', '<', id)])]));
      const matching = kind === undefined ? older : older.where(isOfKind(toStorable(kind)));
      return matching.orderBy('at_ms', 'desc').orderBy('id', 'desc').limit(limit).execute();
    });
    return rows.map(toAudit);
  }

  /** Inserts in batches, so that other statements can run in between. After a failure, all items may be appended again. */
  async #append<Item>(items: readonly Item[], insert: (step: readonly Item[]) => Promise<unknown>): Promise<void> {
    for (let first = 0; first < items.length; first += rowsPerStatement) {
      await insert(items.slice(first, first + rowsPerStatement));
    }
  }
}

/** Returns one row per ID, because one statement may change a row only once. If ratings have the same ID, the latest stays. */
function toUniqueRows(records: readonly AuditRecord[]): readonly AuditRow[] {
  const rows = new Map<string, AuditRow>();
  for (const row of records.map(toAuditRow)) {
    const existing = rows.get(row.id);
    if (existing === undefined || (existing.action === ratedAction && row.at_ms > existing.at_ms)) rows.set(row.id, row);
  }
  return [...rows.values()];
}

/** Returns a condition for one action or for all actions that start with `kind` and a dot. */
function isOfKind(kind: string): RawBuilder<SqlBool> {
  const family = `${kind}.`;
  return sql<SqlBool>`(action = ${kind} or substr(action, 1, ${sql.lit([...family].length)}) = ${family})`;
}

function toUsageRow(record: UsageRecord): UsageRow {
  return {
    id: toStorable(record.id),
    request_id: toStorable(record.requestId),
    at_ms: toInteger(record.atMs),
    subject: toStorable(record.subject),
    project: toStorable(record.project),
    deployment: toStorable(record.deployment),
    path: JSON.stringify(record.path),
    operation: record.operation,
    outcome: record.outcome,
    status: toInteger(record.status),
    prompt_tokens: toInteger(record.promptTokens),
    completion_tokens: toInteger(record.completionTokens),
    cost: toInteger(record.cost),
    duration_ms: Number.isFinite(record.durationMs) ? record.durationMs : 0,
    key_id: record.keyId === undefined ? null : toStorable(record.keyId),
    cache_read_tokens: toIntegerOrNull(record.cacheReadTokens),
    cache_write_tokens: toIntegerOrNull(record.cacheWriteTokens),
    cache_write_1h_tokens: toIntegerOrNull(record.cacheWrite1hTokens),
    service_tier: record.serviceTier === undefined ? null : toStorable(record.serviceTier),
    session: record.session === undefined ? null : toStorable(record.session),
  };
}

function toIntegerOrNull(count: number | undefined): number | null {
  return count === undefined ? null : toInteger(count);
}

function toAuditRow({ id, atMs, action, subject, object, requestId, details }: AuditRecord): AuditRow {
  const orNull = (text: string | undefined): string | null => (text === undefined ? null : toStorable(text));
  return {
    id: toStorable(id),
    at_ms: toInteger(atMs),
    action: toStorable(action),
    subject: orNull(subject),
    object: orNull(object),
    request_id: orNull(requestId),
    details: toRecordJson(details),
  };
}

function toAudit({ id, at_ms, action, subject, object, request_id, details }: AuditRow): AuditRecord {
  return {
    id,
    atMs: at_ms,
    action,
    subject: subject ?? undefined,
    object: object ?? undefined,
    requestId: request_id ?? undefined,
    details: fromRecordJson(details),
  };
}

function toStorableFilter({ subject, deployment, project, keyId, requestId, session }: UsageFilter): UsageFilter {
  const storable = (text: string | undefined) => text && toStorable(text);
  return {
    ...{ subject: storable(subject), deployment: storable(deployment), project: storable(project) },
    ...{ keyId: storable(keyId), requestId: storable(requestId), session: storable(session) },
  };
}

/** Replaces characters that cannot be stored, so that one invalid record does not block a batch. */
function toStorable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

function toInteger(value: number): number {
  return Number.isSafeInteger(Math.round(value)) ? Math.round(value) : 0;
}

/** Returns the smallest safe integer that is not below the bound. The bound may be infinite. */
function toBound(ms: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(ms)));
}

/** Implements `Journal.listCalls`. The bounds must be integers. Each filter has an index in time order. */
async function listCalls(
  kysely: Kysely<Schema>,
  { fromMs, toMs, subject, deployment, project, keyId, requestId, session, outcome, before, limit }: CallsQuery,
): Promise<readonly UsageRecord[]> {
  const within = kysely.selectFrom('usage_records').selectAll().where('at_ms', '>=', fromMs).where('at_ms', '<', toMs);
  const rows = await within
    .$if(before !== undefined, (query) => query.where(sql<boolean>`(at_ms, id) < (${before?.atMs}, ${before?.id})`))
    .$if(subject !== undefined, (query) => query.where('subject', '=', subject ?? ''))
    .$if(deployment !== undefined, (query) => query.where('deployment', '=', deployment ?? ''))
    .$if(project !== undefined, (query) => query.where('project', '=', project ?? ''))
    .$if(keyId !== undefined, (query) => query.where('key_id', '=', keyId ?? ''))
    .$if(requestId !== undefined, (query) => query.where('request_id', '=', requestId ?? ''))
    .$if(session !== undefined, (query) => query.where('session', '=', session ?? ''))
    .$if(outcome !== undefined, (query) => query.where('outcome', '=', outcome ?? ''))
    // Repeats the condition of the partial index on calls that were not answered.
    .$if(outcome !== undefined && outcome !== 'ok', (query) => query.where(sql<boolean>`outcome <> 'ok'`))
    .orderBy('at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toRecord);
}

function toRecord(row: UsageRow): UsageRecord {
  return {
    ...{ id: row.id, requestId: row.request_id, atMs: row.at_ms, subject: row.subject, project: row.project },
    ...{ deployment: row.deployment, path: fromRecordList(row.path), operation: row.operation as Operation },
    ...{ outcome: row.outcome as CallOutcome, status: row.status, durationMs: row.duration_ms },
    ...{ promptTokens: row.prompt_tokens, completionTokens: row.completion_tokens, cost: row.cost },
    ...(row.cache_read_tokens !== null && { cacheReadTokens: row.cache_read_tokens }),
    ...(row.cache_write_tokens !== null && { cacheWriteTokens: row.cache_write_tokens }),
    ...(row.cache_write_1h_tokens !== null && { cacheWrite1hTokens: row.cache_write_1h_tokens }),
    ...(row.service_tier !== null && { serviceTier: row.service_tier }),
    ...(row.session !== null && { session: row.session }),
    ...(row.key_id !== null && { keyId: row.key_id }),
  };
}

const dayMs = 86_400_000;

type Row = UsageAmounts & { readonly day?: number } & Readonly<Partial<Record<Exclude<UsageKey, 'day'>, string>>>;

const keys: Readonly<Record<UsageKey, RawBuilder<unknown>>> = {
  day: sql`at_ms / 86400000`,
  deployment: sql`deployment`,
  subject: sql`subject`,
  project: sql`project`,
};

/** Matches paths with at least two IDs. Quotes inside JSON strings are escaped, so `","` occurs only between two IDs. */
const isInner = sql`path like '%","%'`;

/** Implements `Journal.sumUsage` in the database. The bounds must be integers. */
async function sumUsage<Key extends UsageKey>(
  kysely: Kysely<Schema>,
  { fromMs, toMs, by, limit, ...filter }: UsageQuery<Key>,
): Promise<readonly UsageSum<Key>[]> {
  const names = by.map((key) => sql.ref(key));
  const columns = by.map((key) => sql`${keys[key]} as ${sql.ref(key)},`);
  const { rows } = await sql<Row>`
    select ${sql.join(columns, sql` `)} ${amounts(filter.deployment !== undefined || by.some((key) => key === 'deployment'))}
    from usage_records
    where at_ms >= ${fromMs} and at_ms < ${toMs}
    ${toConditions(filter)}
    ${by.length === 0 ? sql`` : sql`group by ${sql.join(names)}`}
    order by ${sql.join(by.some((key) => key === 'day') ? names : [sql`"cost" desc`, sql`"calls" desc`, ...names])}
    ${limit === undefined ? sql`` : sql`limit ${limit}`}
  `.execute(kysely);
  return rows.map(({ day, ...row }) => ({ ...row, ...(day !== undefined && { day: toDay(day) }) }) as UsageSum<Key>);
}

const filterColumns: Readonly<Record<keyof UsageFilter, RawBuilder<unknown>>> = {
  subject: sql`subject`,
  deployment: sql`deployment`,
  project: sql`project`,
  keyId: sql`key_id`,
  requestId: sql`request_id`,
  session: sql`session`,
};

function toConditions(filter: UsageFilter): RawBuilder<unknown> {
  const conditions = Object.entries(filterColumns).flatMap(([name, column]) => {
    const value = filter[name as keyof UsageFilter];
    return value === undefined ? [] : [sql`and ${column} = ${value}`];
  });
  return conditions.length === 0 ? sql`` : sql.join(conditions, sql` `);
}

/** Returns all sums as floating-point numbers, because drivers do not return 64-bit integers as JavaScript numbers. */
function amounts(withInner: boolean): RawBuilder<unknown> {
  const counted = (value: RawBuilder<unknown>): RawBuilder<unknown> =>
    withInner ? value : sql`case when ${isInner} then 0 else ${value} end`;
  const sum = (value: RawBuilder<unknown>, name: keyof UsageAmounts): RawBuilder<unknown> =>
    sql`cast(coalesce(sum(${value}), 0) as double precision) as ${sql.ref(name)}`;
  return sql.join([
    sum(counted(sql`1`), 'calls'),
    sum(counted(sql`case when outcome = 'failed' then 1 else 0 end`), 'failedCalls'),
    sum(counted(sql`case when outcome = 'refused' then 1 else 0 end`), 'refusedCalls'),
    sum(counted(sql`prompt_tokens`), 'promptTokens'),
    sum(counted(sql`completion_tokens`), 'completionTokens'),
    sum(sql`cost`, 'cost'),
  ]);
}

function toDay(days: number): string {
  return new Date(days * dayMs).toISOString().slice(0, 10);
}
