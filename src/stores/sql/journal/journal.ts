import { CompiledQuery, type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { defaultJsonBounds, parseJson } from '#base/json/json.ts';
import { splitIntoBatches } from '#base/stream/batches.ts';
import { systemClock } from '#base/time/clock.ts';
import { ratedAction } from '#contract/features-request.ts';
import type { Tags } from '#contract/tags.ts';
import type { CallOutcome, Operation } from '#domain/calls/telemetry.ts';
import type {
  AuditQuery,
  AuditRecord,
  CallsQuery,
  Journal,
  RecordUpkeep,
  UpkeepOptions,
  UsageFilter,
  UsageKey,
  UsageQuery,
  UsageRecord,
  UsageSum,
} from '#domain/usage/journal.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { parseRecord, parseTextList, stringifyRecord } from '../engine/stored-values.ts';
import type { AuditRow, Schema, UsageRow } from '../schema.ts';
import { KeyUses } from './key-uses.ts';
import { openRecordDays, type RecordDays, type RecordSegment, type TimeRange, toDayNumber } from './record-days.ts';
import { filterNames, filters } from './usage-report.ts';
import { UsageSums } from './usage-sums.ts';

/**
 * Each statement is synced to disk, so many rows in one statement cost up to a third less. This number of rows takes two
 * milliseconds in the SQLite thread.
 */
const rowsPerStatement = 500;

/** Returns a function that builds the text of the insert statement for a number of rows. The text for a full batch is cached. */
function createInsertTextBuilder(kysely: Kysely<Schema>, table: string, [row]: readonly UsageRow[]): (rows: number) => string {
  const insert = kysely.insertInto(table as 'usage_records').values(row === undefined ? [] : [row]);
  const { sql: text, parameters } = insert.onConflict((conflict) => conflict.doNothing()).compile();
  const start = text.indexOf(' values ') + ' values '.length;
  const end = text.indexOf(')', start) + 1;
  const isNumbered = text.startsWith('($', start);
  const width = parameters.length;
  const toTuple = (index: number): string =>
    isNumbered ? `(${parameters.map((_, column) => `$${index * width + column + 1}`).join(', ')})` : text.slice(start, end);
  const toText = (rows: number): string =>
    `${text.slice(0, start)}${Array.from({ length: rows }, (_, index) => toTuple(index)).join(', ')}${text.slice(end)}`;
  const fullText = toText(rowsPerStatement);
  return (rows) => (rows === rowsPerStatement ? fullText : toText(rows));
}

/** Usage and audit journal, one row per record, stored by day. Records do not change, but a later rating replaces an earlier one. */
export class SqlJournal implements Journal, RecordUpkeep {
  readonly #database: SqlDatabase;
  readonly #nowMs: () => number;
  readonly #usageDays: RecordDays;
  readonly #auditDays: RecordDays;
  readonly #sums: UsageSums;
  readonly #keyUses: KeyUses;
  /** Builds the insert statement of one table, the last one that was used. */
  #insert: { readonly table: string; readonly toText: (rows: number) => string } | undefined;

  /** `nowMs` returns milliseconds since the epoch. */
  constructor(database: SqlDatabase, nowMs: () => number = systemClock.epochMs) {
    this.#database = database;
    this.#nowMs = nowMs;
    this.#usageDays = openRecordDays(database, 'usage');
    this.#auditDays = openRecordDays(database, 'audit');
    this.#sums = new UsageSums(database, this.#usageDays);
    this.#keyUses = new KeyUses(database);
  }

  appendUsage(records: readonly UsageRecord[]): Promise<void> {
    return this.#append(records, async (batch) => {
      const rows = this.#usageDays.selectRetained(batch.map(toUsageRow));
      await this.#usageDays.insert(rows, (table, tableRows) =>
        this.#database.run((kysely) =>
          kysely.executeQuery(CompiledQuery.raw(this.#toUsageInsert(kysely, table, tableRows), tableRows.flatMap(Object.values))),
        ),
      );
      await this.#sums.markStale(
        rows.map((row) => toDayNumber(row.at_ms)),
        toDayNumber(this.#nowMs()),
      );
    });
  }

  /** Returns the insert statement. Only one row is compiled, because compiling a full batch takes longer than inserting it. */
  #toUsageInsert(kysely: Kysely<Schema>, table: string, rows: readonly UsageRow[]): string {
    if (this.#insert?.table !== table) this.#insert = { table, toText: createInsertTextBuilder(kysely, table, rows) };
    return this.#insert.toText(rows.length);
  }

  appendAudit(records: readonly AuditRecord[]): Promise<void> {
    return this.#append(records, async (batch) => {
      const rows = this.#auditDays.selectRetained(toUniqueRows(batch));
      const ratings = rows.filter(({ action }) => action === ratedAction);
      await this.#insertAudit(rows.filter(({ action }) => action !== ratedAction));
      if (ratings.length > 0) await this.#insertAudit(await this.#replaceRatings(ratings));
    });
  }

  #insertAudit(rows: readonly AuditRow[]): Promise<void> {
    return this.#auditDays.insert(rows, (table, tableRows) =>
      this.#database.run((kysely) =>
        kysely
          .insertInto(table as 'audit_records')
          .values(tableRows)
          .onConflict((conflict) => conflict.doNothing())
          .execute(),
      ),
    );
  }

  /**
   * Deletes the earlier ratings of the same replies, on any day. Returns the ratings to insert. A rating is omitted if a stored
   * record with its ID is not earlier, or is not a rating.
   */
  async #replaceRatings(ratings: readonly AuditRow[]): Promise<readonly AuditRow[]> {
    const pending = new Map(ratings.map((rating) => [rating.id, rating]));
    await this.#database.run(async (kysely) => {
      for (const { table } of await this.#auditDays.listSegments(kysely, allTime)) {
        const stored = await kysely
          .selectFrom(table as 'audit_records')
          .select(['id', 'at_ms', 'action'])
          .where('id', 'in', [...pending.keys()])
          .execute();
        for (const { id, at_ms, action } of stored) {
          if (action !== ratedAction || at_ms >= (pending.get(id)?.at_ms ?? 0)) pending.delete(id);
          else
            await kysely
              .deleteFrom(table as 'audit_records')
              .where('id', '=', id)
              .where('at_ms', '=', at_ms)
              .execute();
        }
        if (pending.size === 0) return;
      }
    });
    return [...pending.values()];
  }

  async sumUsage<Key extends UsageKey>(query: UsageQuery<Key>): Promise<readonly UsageSum<Key>[]> {
    const { fromMs, toMs } = query;
    return this.#sums.sumUsage({ ...query, ...toStorableFilter(query), fromMs: toBound(fromMs), toMs: toBound(toMs) });
  }

  async listCalls({ fromMs, toMs, before, ...filter }: CallsQuery): Promise<readonly UsageRecord[]> {
    const beforeRecord = before && { atMs: toBound(before.atMs), id: toStorable(before.id) };
    // Bounds the time on both ends, because not every index contains the ID after the time.
    const endMs = Math.min(toBound(toMs), (beforeRecord?.atMs ?? Number.MAX_SAFE_INTEGER - 1) + 1);
    const query = { ...filter, ...toStorableFilter(filter), id: filter.id && toStorable(filter.id), before: beforeRecord };
    const rows = await this.#readNewest(
      this.#usageDays,
      { fromMs: toBound(fromMs), toMs: endMs },
      { limit: filter.limit, readSegment: (kysely, segment, limit) => listCalls(kysely, segment, { ...query, limit }) },
    );
    return rows.map(toRecord);
  }

  async readAudit({ beforeMs, beforeId = '', kind, limit }: AuditQuery): Promise<readonly AuditRecord[]> {
    const before = { atMs: toBound(beforeMs), id: toStorable(beforeId) };
    const range = { fromMs: 0, toMs: Math.min(before.atMs, Number.MAX_SAFE_INTEGER - 1) + 1 };
    const readSegment = (kysely: Kysely<Schema>, { table, fromMs, toMs }: RecordSegment, remaining: number) => {
      const older = kysely
        .selectFrom(table as 'audit_records')
        .selectAll()
        .where('at_ms', '>=', fromMs)
        .where('at_ms', '<', toMs)
        .where(sql<boolean>`(at_ms, id) < (${before.atMs}, ${before.id})`);
      const matching = kind === undefined ? older : older.where(matchesKind(toStorable(kind)));
      return matching.orderBy('at_ms', 'desc').orderBy('id', 'desc').limit(remaining).execute();
    };
    const rows = await this.#readNewest(this.#auditDays, range, { limit, readSegment });
    return rows.map(toAudit);
  }

  recordKeyUses(uses: ReadonlyMap<string, number>): Promise<void> {
    return this.#keyUses.record(new Map([...uses].map(([key, atMs]) => [toStorable(key), atMs])));
  }

  readKeyUses(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#keyUses.readUses(ids.map(toStorable));
  }

  async maintain({ nowMs, retentionDays, signal }: UpkeepOptions): Promise<void> {
    for (const days of [this.#usageDays, this.#auditDays]) await days.prepare(nowMs, retentionDays);
    await this.#sums.update(nowMs, signal);
    if (retentionDays === undefined) return;
    const firstDay = toDayNumber(nowMs) - retentionDays;
    for (const segment of await this.#usageDays.listExpired(firstDay))
      if (!signal.aborted && (await this.#sums.covers(segment))) await this.#usageDays.drop(segment);
    for (const segment of await this.#auditDays.listExpired(firstDay)) if (!signal.aborted) await this.#auditDays.drop(segment);
  }

  /** Reads the segments of the records, newest first, until it has `limit` rows. */
  #readNewest<Row>(
    days: RecordDays,
    range: TimeRange,
    {
      limit,
      readSegment,
    }: {
      readonly limit: number;
      readonly readSegment: (kysely: Kysely<Schema>, segment: RecordSegment, limit: number) => Promise<readonly Row[]>;
    },
  ): Promise<readonly Row[]> {
    return this.#database.readSnapshot(async (kysely) => {
      const rows: Row[] = [];
      for (const segment of await days.listSegments(kysely, range)) {
        rows.push(...(await readSegment(kysely, segment, limit - rows.length)));
        if (rows.length >= limit) break;
      }
      return rows;
    });
  }

  /** Inserts in batches, so that other statements can run in between. After a failure, the caller can append all items again. */
  async #append<Item>(items: readonly Item[], insert: (batch: readonly Item[]) => Promise<unknown>): Promise<void> {
    for (const batch of splitIntoBatches(items, rowsPerStatement)) await insert(batch);
  }
}

/** Permits the key `__proto__`, because one record must not make a list unreadable. */
const storedBounds = { ...defaultJsonBounds, allowsProto: true };
const allTime = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };

/** Returns one row per ID, because an insert would keep the first row instead of the latest rating, or both on different days. */
function toUniqueRows(records: readonly AuditRecord[]): readonly AuditRow[] {
  const rows = new Map<string, AuditRow>();
  for (const row of records.map(toAuditRow)) {
    const existing = rows.get(row.id);
    if (existing === undefined || (existing.action === ratedAction && row.at_ms > existing.at_ms)) rows.set(row.id, row);
  }
  return [...rows.values()];
}

/** Returns a condition for one action or for all actions that start with `kind` and a dot. */
function matchesKind(kind: string): RawBuilder<SqlBool> {
  const family = `${kind}.`;
  return sql<SqlBool>`(action = ${kind} or substr(action, 1, ${sql.lit([...family].length)}) = ${family})`;
}

function toUsageRow(record: UsageRecord): UsageRow {
  return {
    id: toStorable(record.id),
    request_id: toStorable(record.requestId),
    at_ms: toStorableTime(record.atMs),
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
    key_id: toStorableOrNull(record.keyId),
    cache_read_tokens: toIntegerOrNull(record.cacheReadTokens),
    cache_write_tokens: toIntegerOrNull(record.cacheWriteTokens),
    cache_write_1h_tokens: toIntegerOrNull(record.cacheWrite1hTokens),
    service_tier: toStorableOrNull(record.serviceTier),
    session: toStorableOrNull(record.session),
    tags: toStorableOrNull(record.tags && JSON.stringify(record.tags)),
  };
}

function toIntegerOrNull(count: number | undefined): number | null {
  return count === undefined ? null : toInteger(count);
}

function toStorableOrNull(text: string | undefined): string | null {
  return text === undefined ? null : toStorable(text);
}

function toAuditRow({ id, atMs, action, subject, object, requestId, details }: AuditRecord): AuditRow {
  return {
    id: toStorable(id),
    at_ms: toStorableTime(atMs),
    action: toStorable(action),
    subject: toStorableOrNull(subject),
    object: toStorableOrNull(object),
    request_id: toStorableOrNull(requestId),
    details: stringifyRecord(details),
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
    details: parseRecord(details),
  };
}

function toStorableFilter(filter: UsageFilter): UsageFilter {
  return Object.fromEntries(
    filterNames.flatMap((name) => (filter[name] === undefined ? [] : [[name, toStorable(filter[name])]])),
  );
}

/** Replaces characters that cannot be stored, so that one invalid record does not block a batch. */
function toStorable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** Limits a time to the years 1970 to 9999, so that a day table can be named after its date. */
function toStorableTime(ms: number): number {
  return Math.max(0, Math.min(253_402_300_799_999, toInteger(ms)));
}

function toInteger(value: number): number {
  return Number.isSafeInteger(Math.round(value)) ? Math.round(value) : 0;
}

/** Rounds a bound up, and limits it to the safe integers. The bound can be infinite. */
function toBound(ms: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(ms)));
}

/** Reads calls of one segment of the records. Each filter of `filterNames` has an index in time order. */
function listCalls(
  kysely: Kysely<Schema>,
  { table, fromMs, toMs }: RecordSegment,
  query: Omit<CallsQuery, 'fromMs' | 'toMs'>,
): Promise<readonly UsageRow[]> {
  const { id, outcome, status, before, limit } = query;
  let calls = kysely
    .selectFrom(table as 'usage_records')
    .selectAll()
    .where('at_ms', '>=', fromMs)
    .where('at_ms', '<', toMs);
  if (before !== undefined) calls = calls.where(sql<boolean>`(at_ms, id) < (${before.atMs}, ${before.id})`);
  for (const name of filterNames) if (query[name] !== undefined) calls = calls.where(filters[name].record, '=', query[name]);
  if (id !== undefined) calls = calls.where('id', '=', id);
  if (status !== undefined) calls = calls.where('status', '=', status);
  if (outcome !== undefined) calls = calls.where('outcome', '=', outcome);
  // Repeats the condition of a partial index, so that the database uses it.
  if ((outcome !== undefined && outcome !== 'ok') || (status !== undefined && status >= 400))
    calls = calls.where(sql<boolean>`outcome <> 'ok'`);
  return calls.orderBy('at_ms', 'desc').orderBy('id', 'desc').limit(limit).execute();
}

function toRecord(row: UsageRow): UsageRecord {
  return {
    ...{ id: row.id, requestId: row.request_id, atMs: row.at_ms, subject: row.subject, project: row.project },
    ...{ deployment: row.deployment, path: parseTextList(row.path), operation: row.operation as Operation },
    ...{ outcome: row.outcome as CallOutcome, status: row.status, durationMs: row.duration_ms },
    ...{ promptTokens: row.prompt_tokens, completionTokens: row.completion_tokens, cost: row.cost },
    ...(row.cache_read_tokens !== null && { cacheReadTokens: row.cache_read_tokens }),
    ...(row.cache_write_tokens !== null && { cacheWriteTokens: row.cache_write_tokens }),
    ...(row.cache_write_1h_tokens !== null && { cacheWrite1hTokens: row.cache_write_1h_tokens }),
    ...(row.service_tier !== null && { serviceTier: row.service_tier }),
    ...(row.session !== null && { session: row.session }),
    ...(row.tags !== null && { tags: parseJson(row.tags, storedBounds) as Tags }),
    ...(row.key_id !== null && { keyId: row.key_id }),
  };
}
