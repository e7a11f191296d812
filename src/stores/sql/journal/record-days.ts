import { type Kysely, sql } from 'kysely';
import { splitIntoBatches } from '#base/stream/batches.ts';
import { dayMs } from '#base/time/clock.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import type { Schema } from '../schema.ts';
import { listDayTables, readDefinition, recordTables, toStatementForTable } from './record-tables.ts';

/** Number of days after today whose tables are created in advance. */
const daysAhead = 3;
/** Maximum number of days that one statement reads in PostgreSQL, because planning takes longer with more partitions. */
const daysPerSegment = 31;
/** Locks the partitions. The number is arbitrary but must be the same on all nodes. */
const lockPartitions = sql`select pg_advisory_xact_lock(8098276355)`;

/** Milliseconds since the epoch. */
export interface TimeRange {
  readonly fromMs: number;
  /** Exclusive end. */
  readonly toMs: number;
}

/** Part of the records: a table, and a time range that a query of the table must add as a condition. */
export interface RecordSegment extends TimeRange {
  readonly table: string;
}

/** Returns the parts of the segments that are in the range. */
function clip(segments: readonly RecordSegment[], { fromMs, toMs }: TimeRange): readonly RecordSegment[] {
  return segments
    .map((segment) => ({ ...segment, fromMs: Math.max(segment.fromMs, fromMs), toMs: Math.min(segment.toMs, toMs) }))
    .filter((segment) => segment.fromMs < segment.toMs);
}

/** Returns the number of days since the epoch. */
export function toDayNumber(atMs: number): number {
  return Math.floor(atMs / dayMs);
}

/**
 * Records of one kind, stored by day, so that old days are removed without deleting rows. In PostgreSQL, days are partitions. In
 * SQLite, each day has a table as soon as a retention is set, because dropping a table takes a hundredth of the time of deleting
 * its rows. Until then, SQLite uses one base table, whose schema the day tables copy.
 */
export abstract class RecordDays {
  protected readonly database: SqlDatabase;
  protected readonly table: string;
  /** First retained day. Records of earlier days that arrive later are not stored. */
  protected firstDay = Number.NEGATIVE_INFINITY;

  constructor(database: SqlDatabase, table: string) {
    this.database = database;
    this.table = table;
  }

  /** Sets the first retained day, and creates the tables of today and of the next days. */
  async prepare(nowMs: number, retentionDays: number | undefined): Promise<void> {
    const today = toDayNumber(nowMs);
    this.firstDay = retentionDays === undefined ? Number.NEGATIVE_INFINITY : today - retentionDays;
    await this.ensureTables(Array.from({ length: daysAhead + 1 }, (_, ahead) => today + ahead));
  }

  /** Returns the rows within the retention. */
  selectRetained<Row extends { readonly at_ms: number }>(rows: readonly Row[]): readonly Row[] {
    const firstMs = this.firstDay * dayMs;
    return rows.every((row) => row.at_ms >= firstMs) ? rows : rows.filter((row) => row.at_ms >= firstMs);
  }

  /** Inserts rows into the tables of their days. `insert` receives the rows of one table. */
  async insert<Row extends { readonly at_ms: number }>(
    rows: readonly Row[],
    insert: (table: string, rows: readonly Row[]) => Promise<unknown>,
  ): Promise<void> {
    const tables = await this.ensureTables([...new Set(rows.map((row) => toDayNumber(row.at_ms)))]);
    const byTable = Map.groupBy(rows, (row) => tables.get(toDayNumber(row.at_ms)) ?? this.table);
    try {
      for (const [table, tableRows] of byTable) await insert(table, tableRows);
    } catch (error) {
      this.clearCache();
      throw error;
    }
  }

  /**
   * Returns the segments of the records in a range of time, newest first. All segments are within the range. Another process can
   * drop a table at any time, so read the segments in the same snapshot or transaction.
   */
  abstract listSegments(kysely: Kysely<Schema>, range: TimeRange): Promise<readonly RecordSegment[]>;

  /** Returns the segments that contain only days before `beforeDay`. The start of the earliest one can be negative infinity. */
  abstract listExpired(beforeDay: number): Promise<readonly RecordSegment[]>;

  /** Drops the table of an expired segment. Creates the base table of SQLite again. */
  abstract drop(segment: RecordSegment): Promise<void>;

  /** Creates the missing tables of days. Returns the names of tables by day, without the days of the base table `table`. */
  protected abstract ensureTables(days: readonly number[]): Promise<ReadonlyMap<number, string>>;

  /** Discards the cached table names of `ensureTables` after a failure, because another process may have dropped a table. */
  protected abstract clearCache(): void;

  protected toDayTable(day: number): string {
    return `${this.table}_${new Date(day * dayMs).toISOString().slice(0, 10).replaceAll('-', '')}`;
  }
}

/** Returns the storage for records of a kind. */
export function openRecordDays(database: SqlDatabase, kind: keyof typeof recordTables): RecordDays {
  const table = recordTables[kind][database.engine];
  if (database.engine === 'postgres') return new PostgresDays(database, table);
  return new SqliteDays(database, table, kind === 'contents');
}

const noTables: ReadonlyMap<number, string> = new Map();

class PostgresDays extends RecordDays {
  readonly #existingDays = new Set<number>();

  async listSegments(kysely: Kysely<Schema>, range: TimeRange): Promise<readonly RecordSegment[]> {
    const partitions = clip(await this.#listPartitions(kysely), range);
    const segments: RecordSegment[] = [];
    for (const group of splitIntoBatches(partitions, daysPerSegment)) {
      const [newest, oldest] = [group[0], group.at(-1)];
      if (newest && oldest) segments.push({ table: this.table, fromMs: oldest.fromMs, toMs: newest.toMs });
    }
    return segments;
  }

  async listExpired(beforeDay: number): Promise<readonly RecordSegment[]> {
    const partitions = await this.database.run((kysely) => this.#listPartitions(kysely));
    return partitions.filter(({ toMs }) => toMs <= beforeDay * dayMs);
  }

  drop({ table }: RecordSegment): Promise<void> {
    return this.database.transact(async (transaction) => {
      // A drop waits for readers, and meanwhile writers wait for the drop. If the limit is exceeded, the next maintenance tries again.
      await sql`set local lock_timeout = '2s'`.execute(transaction);
      await lockPartitions.execute(transaction);
      await sql`drop table if exists ${sql.table(table)}`.execute(transaction);
      this.clearCache();
    });
  }

  protected async ensureTables(days: readonly number[]): Promise<ReadonlyMap<number, string>> {
    if (days.every((day) => this.#existingDays.has(day))) return noTables;
    await this.database.transact(async (transaction) => {
      await lockPartitions.execute(transaction);
      const partitions = await this.#listPartitions(transaction);
      for (const day of days) {
        const [fromMs, toMs] = [day * dayMs, (day + 1) * dayMs];
        if (partitions.some((partition) => partition.fromMs <= fromMs && partition.toMs >= toMs)) continue;
        await sql`create table ${sql.table(this.toDayTable(day))} partition of ${sql.table(this.table)} (primary key (id))
          for values from (${sql.lit(fromMs)}) to (${sql.lit(toMs)})`.execute(transaction);
      }
    });
    for (const day of days) this.#existingDays.add(day);
    return noTables;
  }

  protected clearCache(): void {
    this.#existingDays.clear();
  }

  /** Returns the partitions, newest first. */
  async #listPartitions(kysely: Kysely<Schema>): Promise<readonly RecordSegment[]> {
    const { rows } = await sql<{ name: string; bound: string }>`
      select child.relname as name, pg_get_expr(child.relpartbound, child.oid) as bound
      from pg_inherits join pg_class as child on child.oid = inhrelid where inhparent = ${this.table}::regclass`.execute(kysely);
    return rows
      .map(({ name, bound }) => {
        const [, from, to] = /FROM \((?:'?(-?\d+)'?|MINVALUE)\) TO \('?(-?\d+)'?\)/.exec(bound) ?? [];
        return { table: name, fromMs: from === undefined ? Number.NEGATIVE_INFINITY : Number(from), toMs: Number(to) };
      })
      .sort((left, right) => right.toMs - left.toMs);
  }
}

class SqliteDays extends RecordDays {
  /** Tables by day, cached only for inserts. Undefined until they are read. */
  #tables: Map<number, string> | undefined;
  /** Last day with records in the base table. Later days have their own tables. */
  #lastBaseDay = Number.NEGATIVE_INFINITY;
  #usesDayTables: boolean;

  /** `hasRetention` is true for records that always have a retention. */
  constructor(database: SqlDatabase, table: string, hasRetention: boolean) {
    super(database, table);
    this.#usesDayTables = hasRetention;
  }

  override async prepare(nowMs: number, retentionDays: number | undefined): Promise<void> {
    if (!this.#usesDayTables && retentionDays !== undefined) {
      this.#usesDayTables = true;
      this.clearCache();
    }
    return super.prepare(nowMs, retentionDays);
  }

  async listSegments(kysely: Kysely<Schema>, range: TimeRange): Promise<readonly RecordSegment[]> {
    const tables = await this.#readTables(kysely);
    if (tables.size === 0) return [{ table: this.table, ...range }];
    const days = [...tables].map(toDaySegment);
    const base = { table: this.table, fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };
    return clip([...days.sort((left, right) => right.fromMs - left.fromMs), base], range);
  }

  async listExpired(beforeDay: number): Promise<readonly RecordSegment[]> {
    const tables = await this.database.run((kysely) => this.#readTables(kysely));
    const expired = [...tables].filter(([day]) => day < beforeDay).map(toDaySegment);
    if (!this.#usesDayTables || this.#lastBaseDay === Number.NEGATIVE_INFINITY || this.#lastBaseDay >= beforeDay) return expired;
    return [...expired, { table: this.table, fromMs: Number.NEGATIVE_INFINITY, toMs: (this.#lastBaseDay + 1) * dayMs }];
  }

  async drop({ table }: RecordSegment): Promise<void> {
    await this.database.transact(async (transaction) => {
      const statements = table === this.table ? await readDefinition(transaction, table) : [];
      await sql`drop table if exists ${sql.table(table)}`.execute(transaction);
      for (const statement of statements) await sql.raw(statement).execute(transaction);
    });
    this.clearCache();
  }

  protected async ensureTables(days: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const tables = this.#tables ?? (await this.database.run((kysely) => this.#readTables(kysely)));
    if (!this.#usesDayTables) return noTables;
    const missing = days.filter((day) => day > this.#lastBaseDay && !tables.has(day));
    if (missing.length > 0) await this.database.transact((transaction) => this.#createTables(transaction, missing));
    return this.#tables ?? tables;
  }

  protected clearCache(): void {
    this.#tables = undefined;
  }

  async #createTables(transaction: Kysely<Schema>, days: readonly number[]): Promise<void> {
    const definition = await readDefinition(transaction, this.table);
    for (const day of days) {
      const table = this.toDayTable(day);
      for (const statement of definition) await sql.raw(toStatementForTable(statement, this.table, table)).execute(transaction);
      this.#tables?.set(day, table);
    }
  }

  async #readTables(kysely: Kysely<Schema>): Promise<ReadonlyMap<number, string>> {
    const names = await listDayTables(kysely, this.table);
    const base = await sql<{ last: number | null }>`select max(at_ms) as last from ${sql.table(this.table)}`.execute(kysely);
    const last = base.rows[0]?.last ?? null;
    this.#lastBaseDay = last === null ? Number.NEGATIVE_INFINITY : toDayNumber(last);
    this.#tables = new Map(names.map((name) => [toDayNumber(parseDayStartMs(name.slice(this.table.length + 1))), name]));
    this.#usesDayTables ||= this.#tables.size > 0;
    return this.#tables;
  }
}

function toDaySegment([day, table]: readonly [number, string]): RecordSegment {
  return { table, fromMs: day * dayMs, toMs: (day + 1) * dayMs };
}

function parseDayStartMs(text: string): number {
  return Date.parse(`${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6, 8)}`);
}
