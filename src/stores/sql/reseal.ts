import { sql } from 'kysely';
import { type Seal, SealError } from '#base/secrets/seal.ts';
import { filesContext, toChangeContext, toEntryContext, toFirstWritesContext } from './administration/entry-store.ts';
import { toChatContext, toTurnContext } from './chats/chat-rows.ts';
import { toShareContext } from './chats/share-store.ts';
import type { SqlDatabase } from './engine/sql-database.ts';
import { toResultContext } from './evaluations/evaluation-store.ts';
import { toItemContext } from './responses/conversation-rows.ts';
import { toEventsContext, toRunContext } from './responses/response-rows.ts';
import type { Schema } from './schema.ts';
import { toUserContext } from './scim/scim-store.ts';

/** A column with sealed texts. */
interface SealedColumn {
  readonly table: keyof Schema;
  readonly key: readonly string[];
  readonly column: string;
  /** Returns the seal context of the text in the row. */
  toContext(key: never): string;
}

type SealedName<Row> = Extract<keyof Row, `sealed_${string}`>;

/** `key` contains the columns of the primary key. */
function describeColumn<Table extends keyof Schema, Key extends keyof Schema[Table] & string>(
  table: Table,
  key: readonly Key[],
  name: SealedName<Schema[Table]>,
  toContext: (key: Pick<Schema[Table], Key>) => string,
): SealedColumn {
  return { table, key, column: name, toContext };
}

/** Columns of applications, evaluation cases, provisioned users, and entries of administrators. Their tables are always read. */
const settingsColumns: readonly SealedColumn[] = [
  describeColumn('applications', ['id'], 'sealed_entry', ({ id }) => id),
  describeColumn('application_versions', ['application', 'version'], 'sealed_entry', ({ application }) => application),
  describeColumn('evaluation_cases', ['id'], 'sealed_entry', ({ id }) => id),
  describeColumn('file_layer', ['id'], 'sealed_files', () => filesContext),
  describeColumn('runtime_entries', ['kind', 'id'], 'sealed_entry', ({ kind, id }) => toEntryContext(kind, id)),
  describeColumn('runtime_changes', ['id'], 'sealed_writes', ({ id }) => toChangeContext(id)),
  describeColumn('runtime_changes', ['id'], 'sealed_first_writes', ({ id }) => toFirstWritesContext(id)),
  describeColumn('scim_users', ['id'], 'sealed_attributes', ({ id }) => toUserContext(id)),
];

/** Columns of tables that grow with use. The content of calls is omitted, because it is deleted after its retention. */
const usageColumns: readonly SealedColumn[] = [
  describeColumn('evaluation_results', ['evaluation', 'nth'], 'sealed_entry', (row) => toResultContext(row.evaluation, row.nth)),
  describeColumn('chats', ['subject', 'id'], 'sealed_head', (row) => toChatContext('chat', row)),
  describeColumn('chats', ['subject', 'id'], 'sealed_rest', (row) => toChatContext('rest', row)),
  describeColumn('chat_turns', ['subject', 'chat', 'id'], 'sealed_turn', toTurnContext),
  describeColumn('chat_shares', ['subject', 'id'], 'sealed_title', (row) => toShareContext('title', row)),
  describeColumn('chat_shares', ['subject', 'id'], 'sealed_content', (row) => toShareContext('content', row)),
  describeColumn('responses', ['id'], 'sealed_content', ({ id }) => id),
  describeColumn('responses', ['id'], 'sealed_run', ({ id }) => toRunContext(id)),
  describeColumn('response_events', ['response', 'first'], 'sealed_events', (row) => toEventsContext(row.response, row.first)),
  describeColumn('conversations', ['id'], 'sealed_metadata', ({ id }) => id),
  describeColumn('conversation_items', ['conversation', 'nth'], 'sealed_item', (row) => toItemContext(row.conversation, row.nth)),
];

const rowsPerQuery = 500;

/**
 * Seals all stored texts again that were sealed with an older secret, so that the older secret can be removed. If there is only
 * one secret, it reads only the tables of settings, to check whether the secret is the right one. Returns the number of texts. If
 * some texts cannot be opened, it throws the first `SealError` after it has sealed all other texts. Also throws `StoreError`.
 */
export async function resealAll(database: SqlDatabase, seal: Seal): Promise<number> {
  let count = 0;
  const errors: unknown[] = [];
  for (const column of seal.hasOlderSecrets ? [...settingsColumns, ...usageColumns] : settingsColumns) {
    for await (const key of findOutdated(database, seal, column)) {
      try {
        await resealText(database, seal, column, key);
        count += 1;
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        errors.push(error);
      }
    }
  }
  if (errors.length > 0) throw errors[0];
  return count;
}

/** Values of the key columns of a row. */
type RowKey = Readonly<Record<string, string | number>>;

async function* findOutdated(database: SqlDatabase, seal: Seal, sealedColumn: SealedColumn): AsyncGenerator<RowKey> {
  const keys = sql.join(sealedColumn.key.map((name) => sql.ref(name)));
  const text = sql.ref(sealedColumn.column);
  const prefix = seal.newestPrefix;
  const isOutdated = sql`${text} <> '' and substr(${text}, 1, ${sql.lit(prefix.length)}) <> ${prefix}`;
  for (let rows: readonly RowKey[] | undefined; rows === undefined || rows.length === rowsPerQuery; ) {
    const last = rows?.at(-1);
    const isLater = last && sql`and (${keys}) > (${sql.join(sealedColumn.key.map((name) => last[name]))})`;
    const select = sql<RowKey>`select ${keys} from ${sql.table(sealedColumn.table)} where ${isOutdated} ${isLater ?? sql``}
      order by ${keys} limit ${sql.lit(rowsPerQuery)}`;
    ({ rows } = await database.run((kysely) => select.execute(kysely)));
    yield* rows;
  }
}

/** Throws `SealError` or `StoreError`. A text that changed in the meantime was sealed with the newest secret. */
async function resealText(database: SqlDatabase, seal: Seal, sealedColumn: SealedColumn, key: RowKey): Promise<void> {
  const [table, column] = [sql.table(sealedColumn.table), sql.ref(sealedColumn.column)];
  const hasKey = sql.join(
    sealedColumn.key.map((name) => sql`${sql.ref(name)} = ${key[name]}`),
    sql` and `,
  );
  const select = sql<{ readonly text: string | null }>`select ${column} as text from ${table} where ${hasKey}`;
  const { rows } = await database.run((kysely) => select.execute(kysely));
  const text = rows[0]?.text;
  if (!text || text.startsWith(seal.newestPrefix)) return;
  const context = sealedColumn.toContext(key as never);
  const update = sql`update ${table} set ${column} = ${seal.seal(seal.open(text, context), context)}
    where ${hasKey} and ${column} = ${text}`;
  await database.run((kysely) => update.execute(kysely));
}
