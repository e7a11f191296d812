import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { parseScimTime, type ScimComparison, type ScimFilter } from '#domain/scim/scim-filter.ts';

type Table = 'scim_users' | 'scim_groups';
type Condition = RawBuilder<SqlBool>;

/** Column of an attribute. Values of the type `name` are stored in lower case. */
interface Column {
  readonly name: string;
  readonly type: 'name' | 'text' | 'time' | 'boolean';
  readonly isNullable?: boolean;
}

const common: Readonly<Record<string, Column>> = {
  id: { name: 'id', type: 'text' },
  externalid: { name: 'external_id', type: 'text', isNullable: true },
  'meta.created': { name: 'created_at_ms', type: 'time' },
  'meta.lastmodified': { name: 'updated_at_ms', type: 'time' },
};
const columns: Readonly<Record<Table, Readonly<Record<string, Column>>>> = {
  scim_users: { ...common, username: { name: 'folded_name', type: 'name' }, active: { name: 'is_active', type: 'boolean' } },
  scim_groups: { ...common, displayname: { name: 'folded_name', type: 'name' } },
};

const always = sql<SqlBool>`1 = 1`;
const never = sql<SqlBool>`1 = 0`;

/**
 * Converts a filter to a condition. All rows that the filter selects meet it. If it is not exact, other rows meet it too, because
 * the filter uses sealed attributes.
 */
export function toCondition(
  filter: ScimFilter | undefined,
  table: Table,
): { readonly condition: Expression<SqlBool>; readonly isExact: boolean } {
  if (filter === undefined) return { condition: always, isExact: true };
  const exact = toExactCondition(filter, table);
  if (exact !== undefined) return { condition: exact, isExact: true };
  const parts = filter.op === 'and' ? filter.filters.flatMap((part) => toExactCondition(part, table) ?? []) : [];
  return { condition: parts.length === 0 ? always : join('and', parts), isExact: false };
}

/** Returns the condition of a filter, or undefined if it uses attributes without a column. The condition is never null in SQL. */
function toExactCondition(filter: ScimFilter, table: Table): Condition | undefined {
  if ('filters' in filter) {
    const parts = filter.filters.map((part) => toExactCondition(part, table));
    return parts.every((part) => part !== undefined) ? join(filter.op, parts) : undefined;
  }
  if (filter.op === 'not') {
    const negated = toExactCondition(filter.filter, table);
    return negated && sql<SqlBool>`not ${negated}`;
  }
  const { extension, attribute, sub } = filter.path;
  if (extension !== undefined) return undefined;
  if (table === 'scim_groups' && attribute.toLowerCase() === 'members') return toMembersCondition(filter);
  const name = (sub === undefined ? attribute : `${attribute}.${sub}`).toLowerCase();
  const column = Object.hasOwn(columns[table], name) ? columns[table][name] : undefined;
  if (column === undefined || filter.op === 'has') return undefined;
  if (filter.op === 'pr') return column.isNullable ? sql<SqlBool>`(${sql.ref(column.name)} is not null)` : always;
  return toComparison(column, filter.op, filter.value);
}

function toComparison(column: Column, op: ScimComparison, value: string | number | boolean): Condition | undefined {
  const { name, type, isNullable = false } = column;
  const ref = sql.ref(name);
  if (type === 'boolean') {
    const expected = String(value).toLowerCase();
    if (op !== 'eq' || (expected !== 'true' && expected !== 'false')) return never;
    return sql<SqlBool>`(${ref} = ${expected === 'true' ? 1 : 0})`;
  }
  if (typeof value !== 'string') return never;
  if (type === 'time') {
    const ms = parseScimTime(value);
    return ms === undefined ? undefined : toOperatorCondition(ref, op, ms);
  }
  const text = type === 'name' ? value.toLowerCase() : value;
  const condition = toTextCondition(ref, op, text);
  return isNullable && condition !== undefined ? sql<SqlBool>`(${ref} is not null and ${condition})` : condition;
}

function toTextCondition(ref: RawBuilder<unknown>, op: ScimComparison, text: string): Condition | undefined {
  // The functions of both engines count code points.
  const chars = [...text].length;
  if (op === 'co') return text === '' ? always : sql<SqlBool>`(length(replace(${ref}, ${text}, '')) < length(${ref}))`;
  if (op === 'sw') return text === '' ? always : sql<SqlBool>`(substr(${ref}, 1, ${sql.lit(chars)}) = ${text})`;
  if (op === 'ew') return text === '' ? always : sql<SqlBool>`(substr(${ref}, length(${ref}) - ${sql.lit(chars)} + 1) = ${text})`;
  return toOperatorCondition(ref, op, text);
}

const operators: Readonly<Record<string, string>> = { eq: '=', gt: '>', ge: '>=', lt: '<', le: '<=' };

/** Returns undefined for `co`, `sw`, and `ew`. */
function toOperatorCondition(ref: RawBuilder<unknown>, op: ScimComparison, value: string | number): Condition | undefined {
  const operator = operators[op];
  return operator === undefined ? undefined : sql<SqlBool>`(${ref} ${sql.raw(operator)} ${value})`;
}

/** Returns the condition for a filter by members: `pr`, `eq` with a user ID, or alternatives. The parser rejects other filters. */
function toMembersCondition(filter: ScimFilter): Condition {
  const members = sql`select 1 from scim_members where scim_members.group_id = scim_groups.id`;
  const toMember = (id: string) => sql<SqlBool>`exists (${members} and scim_members.user_id = ${id})`;
  if (filter.op === 'pr') return sql<SqlBool>`exists (${members})`;
  if (filter.op === 'has') return toMembersCondition(filter.filter);
  if (filter.op === 'or') return join('or', filter.filters.map(toMembersCondition));
  return filter.op === 'eq' && typeof filter.value === 'string' ? toMember(filter.value) : never;
}

function join(op: 'and' | 'or', parts: readonly Condition[]): Condition {
  return sql<SqlBool>`(${sql.join([...parts], sql.raw(` ${op} `))})`;
}
