import { type Kysely, sql } from 'kysely';
import { splitIntoBatches } from '#base/stream/batches.ts';
import { dayMs } from '#base/time/clock.ts';
import type { UsageKey, UsageQuery, UsageSum } from '#domain/usage/journal.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import type { Schema } from '../schema.ts';
import { type RecordDays, type RecordSegment, type TimeRange, toDayNumber } from './record-days.ts';
import { sumLevels } from './record-tables.ts';
import {
  amountNames,
  buildGroupings,
  needsRecords,
  type ReportPlan,
  readSums,
  recordAmounts,
  recordIsInner,
} from './usage-report.ts';

/** Approximate maximum number of records that one transaction adds to the sums. This takes less than a second. */
const recordsPerStep = 50_000;
const marksPerStatement = 500;

/** Time after midnight before a day is summed. A record has the start time of its call, but is stored when the call ends. */
const graceMs = 15 * 60_000;

/**
 * Totals of usage, from the sums of complete days and months and from the records of other days. A mark is the row of
 * `usage_sum_periods` with the progress of one day or month.
 */
export class UsageSums {
  readonly #database: SqlDatabase;
  readonly #days: RecordDays;

  constructor(database: SqlDatabase, days: RecordDays) {
    this.#database = database;
    this.#days = days;
  }

  /** Implements `Journal.sumUsage`. The bounds must be integers. */
  sumUsage<Key extends UsageKey>(query: UsageQuery<Key>): Promise<readonly UsageSum<Key>[]> {
    return this.#database.readSnapshot(async (kysely) => {
      const marks = needsRecords(query) ? [] : await readMarks(kysely, query);
      return readSums(
        kysely,
        { query, groupings: buildGroupings(query.by, this.#database.engine) },
        await this.#plan(kysely, query, marks),
      );
    });
  }

  /** Sets the marks of past days to stale, so that they are summed again. `days` and `today` are numbers of days since the epoch. */
  async markStale(days: Iterable<number>, today: number): Promise<void> {
    const late = [...new Set(days)].filter((day) => day < today);
    if (late.length === 0) return;
    await this.#database.run((kysely) =>
      kysely
        .updateTable('usage_sum_periods')
        .set({ is_stale: 1 })
        .where('level', '=', sumLevels.day)
        .where('period', 'in', late)
        .execute(),
    );
  }

  /** Sums all past days that are not summed yet, and then the months. Several nodes can do this concurrently. */
  async update(nowMs: number, signal: AbortSignal): Promise<void> {
    const endDay = toDayNumber(nowMs - graceMs);
    const pending = await this.#listPending(endDay);
    await this.#insertMarks(pending);
    // Reads the days again: a record that was stored before its day had a mark could not set the mark to stale.
    const recorded = new Set(await this.#listPending(endDay, 'recorded'));
    await this.#completeEmptyDays(pending.filter((day) => !recorded.has(day)));
    for (const day of recorded) {
      while (!signal.aborted && (await this.#addRecords(day)));
      if (signal.aborted) return;
    }
    for (const month of await this.#listPendingMonths(endDay)) while (!signal.aborted && (await this.#addDayToMonth(month)));
  }

  /** Returns whether the sums include all records of a table that is about to be dropped. */
  covers({ table, fromMs, toMs }: RecordSegment): Promise<boolean> {
    return this.#database.run(async (kysely) => {
      const first = Number.isFinite(fromMs) ? fromMs : ((await readFirstTime(kysely, { table, fromMs: 0, toMs })) ?? toMs);
      const marks = await readMarks(kysely, { fromMs: first, toMs });
      const days = new Set(marks.filter(isCompleteDay).map(({ period }) => period));
      for (let day = toDayNumber(first); day * dayMs < toMs; day += 1) if (!days.has(day)) return false;
      return true;
    });
  }

  /** Returns past days that have no sums or need new ones: all days since the first record, or only those with records. */
  #listPending(endDay: number, which: 'all' | 'recorded' = 'all'): Promise<readonly number[]> {
    return this.#database.readSnapshot(async (kysely) => {
      const range = { fromMs: 0, toMs: endDay * dayMs };
      const done = new Set((await readMarks(kysely, range)).filter(isCompleteDay).map(({ period }) => period));
      const pending = new Set<number>();
      for (const segment of await this.#days.listSegments(kysely, range)) {
        for (let at = await readFirstTime(kysely, segment); at !== undefined; ) {
          let day = toDayNumber(at);
          if (!done.has(day)) pending.add(day);
          do day += 1;
          while (done.has(day));
          at = await readFirstTime(kysely, { ...segment, fromMs: day * dayMs });
        }
      }
      // Days without records need a mark too, so that their month becomes complete.
      const firstDay = which === 'all' ? Math.min(...done, ...pending) : endDay;
      for (let day = firstDay; day < endDay; day += 1) if (!done.has(day)) pending.add(day);
      return [...pending].sort((left, right) => left - right);
    });
  }

  /** Commits the marks of days before their records are read, so that a node that stores a late record finds the mark. */
  async #insertMarks(days: readonly number[]): Promise<void> {
    for (const batch of splitIntoBatches(days, marksPerStatement)) {
      await this.#database.run((kysely) =>
        kysely
          .insertInto('usage_sum_periods')
          .values(batch.map((day) => ({ level: sumLevels.day, period: day, until_ms: day * dayMs, is_complete: 0, is_stale: 0 })))
          .onConflict((conflict) => conflict.doNothing())
          .execute(),
      );
    }
  }

  async #completeEmptyDays(days: readonly number[]): Promise<void> {
    for (const batch of splitIntoBatches(days, marksPerStatement)) {
      await this.#database.run((kysely) =>
        kysely
          .updateTable('usage_sum_periods')
          .set({ is_complete: 1 })
          .where('level', '=', sumLevels.day)
          .where('period', 'in', batch)
          .where('is_stale', '=', 0)
          .execute(),
      );
    }
  }

  /** Adds some records of the day to its sums. Returns whether more records remain. The lock of the mark serializes nodes. */
  #addRecords(day: number): Promise<boolean> {
    return this.#database.transact(async (transaction) => {
      const dayKey = { level: sumLevels.day, period: day };
      const mark = await this.#lockMark(transaction, dayKey);
      if (mark.is_complete === 1 && mark.is_stale === 0) return false;
      const startMs = mark.is_stale === 1 ? day * dayMs : mark.until_ms;
      if (mark.is_stale === 1) await dropSums(transaction, dayKey);
      const endMs = (day + 1) * dayMs;
      const untilMs = await this.#addStep(transaction, day, { fromMs: startMs, toMs: endMs });
      const isComplete = untilMs >= endMs;
      await dropMonth(transaction, toMonth(day));
      await transaction
        .updateTable('usage_sum_periods')
        .set({ until_ms: untilMs, is_complete: isComplete ? 1 : 0, is_stale: 0 })
        .where('level', '=', dayKey.level)
        .where('period', '=', day)
        .execute();
      return !isComplete;
    });
  }

  /** Returns the end of the time range whose records were added. */
  async #addStep(transaction: Kysely<Schema>, day: number, { fromMs, toMs }: TimeRange): Promise<number> {
    let untilMs = toMs;
    for (const segment of await this.#days.listSegments(transaction, { fromMs, toMs })) {
      const { rows } = await sql<{ at_ms: number }>`select at_ms from ${sql.table(segment.table)}
        where at_ms >= ${fromMs} and at_ms < ${toMs} order by at_ms limit 1 offset ${recordsPerStep}`.execute(transaction);
      if (rows[0] !== undefined) untilMs = Math.min(untilMs, Math.max(rows[0].at_ms, fromMs + 1));
    }
    for (const { table } of await this.#days.listSegments(transaction, { fromMs, toMs: untilMs })) {
      await sql`insert into usage_sums as sums (level, period, project, deployment, key_id, is_inner, ${amountColumns})
        select ${sql.lit(sumLevels.day)}, ${sql.lit(day)}, project, deployment, coalesce(key_id, ''),
          ${recordIsInner}, ${sql.join(Object.values(recordAmounts).map((value) => sql`sum(${value})`))}
        from ${sql.table(table)} where at_ms >= ${fromMs} and at_ms < ${untilMs}
        group by project, deployment, coalesce(key_id, ''), ${recordIsInner}
        ${addToExisting}`.execute(transaction);
    }
    return untilMs;
  }

  /** Returns past months that have no sums although all their days have sums. Days before the first summed day are ignored. */
  #listPendingMonths(endDay: number): Promise<readonly number[]> {
    return this.#database.run(async (kysely) => {
      const marks = await readMarks(kysely, { fromMs: 0, toMs: endDay * dayMs });
      const months = new Set(marks.filter(isCompleteMonth).map(({ period }) => period));
      const days = marks.filter(isCompleteDay).map(({ period }) => period);
      const first = Math.min(...days);
      const isPending = (month: number): boolean => {
        const { fromDay, toDay } = toMonthDays(month);
        const expected = toDay - Math.max(fromDay, first);
        return toDay <= endDay && !months.has(month) && days.filter((day) => day >= fromDay && day < toDay).length === expected;
      };
      return [...new Set(days.map(toMonth))].filter(isPending);
    });
  }

  /**
   * Adds the next day with sums to its month. Returns whether another day can be added. A change to a day deletes the mark of
   * its month.
   */
  #addDayToMonth(month: number): Promise<boolean> {
    return this.#database.transact(async (transaction) => {
      const { fromDay, toDay } = toMonthDays(month);
      const mark = { level: sumLevels.month, period: month };
      await transaction
        .insertInto('usage_sum_periods')
        .values({ ...mark, until_ms: fromDay * dayMs, is_complete: 0, is_stale: 0 })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      const { until_ms: untilMs, is_complete: isComplete } = await this.#lockMark(transaction, mark);
      if (isComplete === 1) return false;
      const marks = await readMarks(transaction, { fromMs: untilMs, toMs: toDay * dayMs - 1 });
      if (marks.some((entry) => entry.level === sumLevels.day && !isCompleteDay(entry))) return false;
      const { day } = await transaction
        .selectFrom('usage_sums')
        .select(({ fn }) => fn.min('period').as('day'))
        .where('level', '=', sumLevels.day)
        .where('period', '>=', toDayNumber(untilMs))
        .where('period', '<', toDay)
        .executeTakeFirstOrThrow();
      const nextDay = day === null ? toDay : day + 1;
      if (day !== null)
        await sql`insert into usage_sums as sums (level, period, project, deployment, key_id, is_inner, ${amountColumns})
        select ${sql.lit(sumLevels.month)}, ${sql.lit(month)}, project, deployment, '', is_inner,
          ${sql.join(amountNames.map((name) => sql`sum(${sql.ref(name)})`))}
        from usage_sums where level = ${sql.lit(sumLevels.day)} and period = ${sql.lit(nextDay - 1)}
        group by project, deployment, is_inner ${addToExisting}`.execute(transaction);
      await transaction
        .updateTable('usage_sum_periods')
        .set({ until_ms: nextDay * dayMs, is_complete: nextDay === toDay ? 1 : 0 })
        .where('level', '=', mark.level)
        .where('period', '=', month)
        .execute();
      return nextDay < toDay;
    });
  }

  /** Reads the mark of a period and locks it until the transaction ends. */
  #lockMark(transaction: Kysely<Schema>, { level, period }: Pick<PeriodMark, 'level' | 'period'>) {
    return transaction
      .selectFrom('usage_sum_periods')
      .selectAll()
      .where('level', '=', level)
      .where('period', '=', period)
      .$if(this.#database.engine === 'postgres', (query) => query.forUpdate())
      .executeTakeFirstOrThrow();
  }

  /** Returns the sums and records that a report adds up. Each moment of the range is in exactly one of them. */
  async #plan(kysely: Kysely<Schema>, query: UsageQuery<UsageKey>, marks: readonly PeriodMark[]): Promise<ReportPlan> {
    const isWithin = (fromDay: number, toDay: number) => fromDay * dayMs >= query.fromMs && toDay * dayMs <= query.toMs;
    const days = marks.filter((day) => isCompleteDay(day) && isWithin(day.period, day.period + 1)).map(({ period }) => period);
    // A day that is summed again makes the sums of its month invalid.
    const changingMonths = new Set(
      marks.filter((entry) => entry.level === sumLevels.day && !isCompleteDay(entry)).map(({ period }) => toMonth(period)),
    );
    const isUsable = (month: PeriodMark): boolean => {
      const { fromDay, toDay } = toMonthDays(month.period);
      return isCompleteMonth(month) && !changingMonths.has(month.period) && isWithin(fromDay, toDay);
    };
    const needsDays = query.keyId !== undefined || query.by.includes('keyId') || query.by.includes('day');
    const months = needsDays ? [] : marks.filter(isUsable).map(({ period }) => period);
    const otherDays = days.filter((day) => !months.includes(toMonth(day)));
    const records = await Array.fromAsync(findGaps(query, days), (gap) => this.#days.listSegments(kysely, gap));
    const sums = [
      { level: sumLevels.month, periods: months },
      { level: sumLevels.day, periods: otherDays },
    ];
    return { sums: sums.filter((part) => part.periods.length > 0), records: records.flat() };
  }
}

type PeriodMark = Pick<Schema['usage_sum_periods'], 'level' | 'period' | 'is_complete' | 'is_stale'>;

function isCompleteDay({ level, is_complete, is_stale }: PeriodMark): boolean {
  return level === sumLevels.day && is_complete === 1 && is_stale === 0;
}

function isCompleteMonth({ level, is_complete }: PeriodMark): boolean {
  return level === sumLevels.month && is_complete === 1;
}

/** Latest time that `Date` supports. */
const maxDateMs = 8.64e15;

/** Returns the marks of the days and months from `fromMs` to `toMs`, including the day and the month of `toMs`. */
async function readMarks(kysely: Kysely<Schema>, { fromMs, toMs }: TimeRange): Promise<readonly PeriodMark[]> {
  const [first, last] = [toDayNumber(Math.max(0, fromMs)), toDayNumber(Math.min(maxDateMs, toMs))];
  return kysely
    .selectFrom('usage_sum_periods')
    .select(['level', 'period', 'is_complete', 'is_stale'])
    .where(({ eb, and, or }) =>
      or([
        and([eb('level', '=', sumLevels.day), eb('period', '>=', first), eb('period', '<=', last)]),
        and([eb('level', '=', sumLevels.month), eb('period', '>=', toMonth(first)), eb('period', '<=', toMonth(last))]),
      ]),
    )
    .execute();
}

/** Returns the time of the first record in a range of a table. */
async function readFirstTime(kysely: Kysely<Schema>, { table, fromMs, toMs }: RecordSegment): Promise<number | undefined> {
  const { rows } = await sql<{ at: number | null }>`select min(at_ms) as at from ${sql.table(table)}
    where at_ms >= ${fromMs} and at_ms < ${toMs}`.execute(kysely);
  return rows[0]?.at ?? undefined;
}

/** Returns the parts of the range that are not in the days. */
function findGaps({ fromMs, toMs }: TimeRange, days: readonly number[]): readonly TimeRange[] {
  const gaps: TimeRange[] = [];
  let startMs = fromMs;
  for (const day of days.toSorted((left, right) => left - right)) {
    if (day * dayMs > startMs) gaps.push({ fromMs: startMs, toMs: day * dayMs });
    startMs = (day + 1) * dayMs;
  }
  if (startMs < toMs) gaps.push({ fromMs: startMs, toMs });
  return gaps;
}

/** Returns the number of months since January of year 0. */
function toMonth(day: number): number {
  const date = new Date(day * dayMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Returns the first day of the month and the first day after it. */
function toMonthDays(month: number): { readonly fromDay: number; readonly toDay: number } {
  const [year, index] = [Math.floor(month / 12), month % 12];
  return { fromDay: Date.UTC(year, index) / dayMs, toDay: Date.UTC(year, index + 1) / dayMs };
}

async function dropSums(transaction: Kysely<Schema>, { level, period }: Pick<PeriodMark, 'level' | 'period'>): Promise<void> {
  await transaction.deleteFrom('usage_sums').where('level', '=', level).where('period', '=', period).execute();
}

/** Removes the mark and the sums of a month, because a day of it changes. */
async function dropMonth(transaction: Kysely<Schema>, period: number): Promise<void> {
  const { month: level } = sumLevels;
  await transaction.deleteFrom('usage_sum_periods').where('level', '=', level).where('period', '=', period).execute();
  await dropSums(transaction, { level, period });
}

const amountColumns = sql.join(amountNames.map((name) => sql.ref(name)));
const addToExisting = sql`on conflict (level, period, project, deployment, key_id, is_inner) do update set
  ${sql.join(amountNames.map((name) => sql`${sql.ref(name)} = sums.${sql.ref(name)} + excluded.${sql.ref(name)}`))}`;
