import { type Kysely, type RawBuilder, sql } from 'kysely';
import { dayMs } from '#base/time/clock.ts';
import type { UsageAmounts, UsageFilter, UsageKey, UsageQuery, UsageSum } from '#domain/usage/journal.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import type { Schema } from '../schema.ts';
import type { RecordSegment } from './record-days.ts';

/** Sums and records that a report adds up. `sums` has the periods of each level. */
export interface ReportPlan {
  readonly sums: readonly { readonly level: number; readonly periods: readonly number[] }[];
  readonly records: readonly RecordSegment[];
}

/** 1 for an inner call, whose path has at least two IDs. Quotes inside JSON strings are escaped, so `","` occurs only between IDs. */
export const recordIsInner = sql`case when path like '%","%' then 1 else 0 end`;

/** Amounts of one record by their column in `usage_sums`. */
export const recordAmounts = {
  calls: sql`1`,
  failed_calls: sql`case when outcome = 'failed' then 1 else 0 end`,
  refused_calls: sql`case when outcome = 'refused' then 1 else 0 end`,
  prompt_tokens: sql`prompt_tokens`,
  completion_tokens: sql`completion_tokens`,
  cost: sql`cost`,
} as const;
export const amountNames = Object.keys(recordAmounts) as readonly (keyof typeof recordAmounts)[];

/** Names of the amounts in a report, by their column in `usage_sums`. */
const reportedAmounts: Readonly<Record<keyof typeof recordAmounts, keyof UsageAmounts>> = {
  ...{ calls: 'calls', failed_calls: 'failedCalls', refused_calls: 'refusedCalls' },
  ...{ prompt_tokens: 'promptTokens', completion_tokens: 'completionTokens', cost: 'cost' },
};

/** Columns of a grouping or a filter, in records and in sums. If sums lack it, a report reads only records. */
interface Dimension {
  readonly record: RawBuilder<unknown>;
  readonly sum?: RawBuilder<unknown>;
}

const toColumn = (name: string): Dimension => ({ record: sql.ref(name), sum: sql.ref(name) });

const tagPrefix = 'tag:';
type TagKey = `${typeof tagPrefix}${string}`;
type Engine = SqlDatabase['engine'];

const isTagKey = (key: UsageKey): key is TagKey => key.startsWith(tagPrefix);

const groupings: Readonly<Record<Exclude<UsageKey, TagKey>, Dimension>> = {
  day: { record: sql`at_ms / 86400000`, sum: sql`period` },
  deployment: toColumn('deployment'),
  subject: { record: sql`subject` },
  project: toColumn('project'),
  keyId: { record: sql`coalesce(key_id, '')`, sum: sql`key_id` },
  session: { record: sql`coalesce(session, '')` },
};

/** A grouping with its column name in the query. Tags are numbered, because column names have at most 63 characters. */
interface Grouping extends Dimension {
  readonly key: UsageKey;
  readonly name: string;
}

export function buildGroupings(by: readonly UsageKey[], engine: Engine): readonly Grouping[] {
  return by.map((key, index) => {
    if (!isTagKey(key)) return { key, name: key, ...groupings[key] };
    const tag = key.slice(tagPrefix.length);
    const value =
      engine === 'postgres' ? sql`tags::jsonb ->> ${sql.lit(tag)}` : sql`json_extract(tags, ${sql.lit(`$."${tag}"`)})`;
    return { key, name: `tag${index}`, record: sql`coalesce(${value}, '')` };
  });
}

/** Filters of calls and reports, by their name in a query. */
export const filters: Readonly<Record<keyof UsageFilter, Dimension>> = {
  subject: { record: sql`subject` },
  deployment: toColumn('deployment'),
  project: toColumn('project'),
  keyId: toColumn('key_id'),
  requestId: { record: sql`request_id` },
  session: { record: sql`session` },
};

export const filterNames = Object.keys(filters) as readonly (keyof UsageFilter)[];

export function needsRecords({ by, ...filter }: UsageQuery<UsageKey>): boolean {
  const isRecordOnly = ({ sum }: Dimension) => sum === undefined;
  return (
    by.some((key) => isTagKey(key) || isRecordOnly(groupings[key])) ||
    filterNames.some((name) => filter[name] !== undefined && isRecordOnly(filters[name]))
  );
}

type Row = UsageAmounts & Readonly<Record<string, unknown>>;

interface GroupedQuery<Key extends UsageKey> {
  readonly query: UsageQuery<Key>;
  readonly groupings: readonly Grouping[];
}

/** Adds up each table on its own first, because a table has far fewer groups than rows. */
export async function readSums<Key extends UsageKey>(
  kysely: Kysely<Schema>,
  grouped: GroupedQuery<Key>,
  { sums, records }: ReportPlan,
): Promise<readonly UsageSum<Key>[]> {
  const { query, groupings } = grouped;
  const { by, limit } = query;
  const names = groupings.map(({ name }) => sql.ref(name));
  const parts = [
    ...sums.map(({ level, periods }) =>
      buildPart(
        grouped,
        'sum',
        sql`usage_sums where level = ${sql.lit(level)} and period in (${sql.join(periods.map(sql.lit))})`,
      ),
    ),
    ...records.map(({ table, fromMs, toMs }) =>
      buildPart(grouped, 'record', sql`${sql.table(table)} where at_ms >= ${fromMs} and at_ms < ${toMs}`),
    ),
  ];
  if (parts.length === 0) parts.push(buildPart(grouped, 'record', sql`usage_records where at_ms < 0`));
  const isOrderedByKeys = query.order === 'keys' || by.some((key) => key === 'day');
  const order = isOrderedByKeys ? names : [sql`"cost" desc`, sql`"calls" desc`, ...names];
  const totals = Object.values(reportedAmounts).map((name) => sql`coalesce(sum(${sql.ref(name)}), 0) as ${sql.ref(name)}`);
  const { rows } = await sql<Row>`
    select ${sql.join([...names, ...totals])} from (${sql.join(parts, sql` union all `)}) as parts
    ${by.length === 0 ? sql`` : sql`group by ${sql.join(names)}`}
    order by ${sql.join(order)} ${limit === undefined ? sql`` : sql`limit ${limit}`}
  `.execute(kysely);
  return rows.map((row) => {
    const keys = groupings.map(({ key, name }) => [key, toKeyValue(key, row[name])] as const);
    const totals = Object.values(reportedAmounts).map((name) => [name, row[name]] as const);
    return Object.fromEntries<unknown>([...keys, ...totals]) as UsageSum<Key>;
  });
}

/**
 * Returns the query for the totals of one table. All totals are floating-point numbers, because drivers do not return 64-bit
 * integers as JavaScript numbers.
 */
function buildPart(
  { query: { by, after, isDirect, ...filter }, groupings }: GroupedQuery<UsageKey>,
  kind: 'record' | 'sum',
  source: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const toValue = (dimension: Dimension): RawBuilder<unknown> => dimension[kind] ?? dimension.record;
  const includesInner = isDirect !== true && (filter.deployment !== undefined || by.includes('deployment'));
  const isInner = kind === 'sum' ? sql`is_inner` : recordIsInner;
  const totals = amountNames.map((name) => {
    const amount = kind === 'sum' ? sql.ref(name) : recordAmounts[name];
    const counted = includesInner || name === 'cost' ? amount : sql`case when ${isInner} = 1 then 0 else ${amount} end`;
    return sql`cast(sum(${counted}) as double precision) as ${sql.ref(reportedAmounts[name])}`;
  });
  const conditions = filterNames.flatMap((name) => {
    const value = filter[name];
    return value === undefined ? [] : [sql` and ${toValue(filters[name])} = ${value}`];
  });
  if (after !== undefined) {
    const last = by.map((key) => sql`${key === 'day' ? Date.parse(after[key] ?? '') / dayMs : (after[key] ?? '')}`);
    conditions.push(sql` and (${sql.join(groupings.map(toValue))}) > (${sql.join(last)})`);
  }
  return sql`select ${sql.join([...groupings.map((grouping) => sql`${toValue(grouping)} as ${sql.ref(grouping.name)}`), ...totals])}
    from ${source}${conditions.length === 0 ? sql`` : sql.join(conditions, sql``)}
    ${by.length === 0 ? sql`` : sql`group by ${sql.join(groupings.map(toValue))}`}`;
}

/** Formats a day as a date. Returns null for records without a key or a tag. */
function toKeyValue(key: UsageKey, value: unknown): unknown {
  if (key === 'day') return new Date(Number(value) * dayMs).toISOString().slice(0, 10);
  return value === '' && (key === 'keyId' || isTagKey(key)) ? null : value;
}
