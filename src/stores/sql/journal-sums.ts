import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { UsageAmounts, UsageFilter, UsageKey, UsageQuery, UsageSum } from '#domain/usage/journal.ts';
import type { Schema } from './schema.ts';

const dayMs = 86_400_000;

type Row = UsageAmounts & { readonly day?: number } & Readonly<Partial<Record<Exclude<UsageKey, 'day'>, string>>>;

const keys: Readonly<Record<UsageKey, RawBuilder<unknown>>> = {
  day: sql`at_ms / 86400000`,
  deployment: sql`deployment`,
  subject: sql`subject`,
  project: sql`project`,
};

/** Inside a text of a JSON array every quote is escaped: this parts two ids of a path, and stands nowhere else in it. */
const isInner = sql`path like '%","%'`;

/** Sums of usage as the port says, made by the engine; bounds are whole numbers. */
export async function sumUsage<Key extends UsageKey>(
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
};

function toConditions(filter: UsageFilter): RawBuilder<unknown> {
  const conditions = Object.entries(filterColumns).flatMap(([name, column]) => {
    const value = filter[name as keyof UsageFilter];
    return value === undefined ? [] : [sql`and ${column} = ${value}`];
  });
  return conditions.length === 0 ? sql`` : sql.join(conditions, sql` `);
}

/** Every sum as a floating number: whole ones of eight bytes are no numbers of JavaScript. */
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
