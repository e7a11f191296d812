import type { Kysely } from 'kysely';
import type { JsonObject } from '#base/json.ts';
import type { Seal } from '#base/seal.ts';
import { isStorableKey } from '#domain/deployments/storable-key.ts';
import { itemsOf } from '#domain/responses/stored-items.ts';
import { openItem } from './conversation-rows.ts';
import { fromRow, type ReadRow, readColumns } from './response-rows.ts';
import type { Schema } from './schema.ts';
import type { SqlDatabase } from './sql-database.ts';

interface Finding {
  readonly database: SqlDatabase;
  readonly seal: Seal;
}

const idsAtOnce = 500;

/** Items of a user's responses and conversations, by their ids. */
export async function findStoredItems(
  { database, seal }: Finding,
  subject: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, JsonObject>> {
  const found = new Map<string, JsonObject>();
  const wanted = [...new Set(ids)].filter(isStorableKey);
  for (let from = 0; from < wanted.length; from += idsAtOnce) {
    const some = wanted.slice(from, from + idsAtOnce);
    for (const row of await database.run((kysely) => responsesWith(kysely, subject, some))) {
      for (const item of itemsOf(fromRow(seal, row))) if (typeof item.id === 'string') found.set(item.id, item);
    }
    const missing = some.filter((id) => !found.has(id));
    if (missing.length === 0) continue;
    const rows = await database.run((kysely) => conversationItems(kysely, subject, missing));
    for (const row of rows) found.set(row.id, openItem(seal, row));
  }
  return found;
}

/** In two steps, so that neither engine reads all of what the user has. */
async function responsesWith(kysely: Kysely<Schema>, subject: string, ids: readonly string[]): Promise<readonly ReadRow[]> {
  const holding = await kysely.selectFrom('response_items').select('response').distinct().where('id', 'in', ids).execute();
  if (holding.length === 0) return [];
  const responses = holding.map(({ response }) => response);
  const rows = await kysely.selectFrom('responses').select(readColumns).where('id', 'in', responses).execute();
  return rows.filter((row) => row.subject === subject);
}

function conversationItems(kysely: Kysely<Schema>, subject: string, ids: readonly string[]) {
  return kysely
    .selectFrom('conversation_items')
    .innerJoin('conversations', 'conversations.id', 'conversation_items.conversation')
    .select(['conversation_items.id', 'conversation', 'nth', 'sealed_item'])
    .where('conversation_items.id', 'in', ids)
    .where('subject', '=', subject)
    .execute();
}
