import { hash } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { JsonObject } from '#base/json/json.ts';
import type { Seal } from '#base/secrets/seal.ts';
import { splitIntoBatches } from '#base/stream/batches.ts';
import { isStorableKey } from '#base/text/storable-key.ts';
import type { ConversationRef } from '#domain/responses/conversation-store.ts';
import { isHiddenItem } from '#domain/responses/stored-items.ts';
import { openSealedObject } from '../engine/stored-values.ts';
import type { Schema } from '../schema.ts';
import type { ConversationItemRow } from './response-tables.ts';

interface SealedTransaction {
  /** Must be a transaction. */
  readonly kysely: Kysely<Schema>;
  readonly seal: Seal;
}

const rowsPerStatement = 500;

export function openItem(
  seal: Seal,
  { conversation, nth, sealed_item }: Pick<ConversationItemRow, 'conversation' | 'nth' | 'sealed_item'>,
): JsonObject {
  return openSealedObject(seal, sealed_item, toItemContext(conversation, nth));
}

/**
 * Appends items. If one of their IDs is not unique in the conversation, appends none and returns this ID as `existingId`. Returns
 * undefined if the conversation does not exist.
 */
export async function appendItems(
  { kysely, seal }: SealedTransaction,
  ref: ConversationRef,
  items: readonly JsonObject[],
): Promise<{ readonly existingId?: string } | undefined> {
  const first = await reserveNumbers(kysely, ref, items.length);
  if (first === undefined) return undefined;
  const existingIds = await findExistingIds(kysely, ref.id, items);
  for (const id of items.map(toKey)) {
    if (existingIds.has(id)) return { existingId: id };
    existingIds.add(id);
  }
  await insertItems({ kysely, seal }, ref.id, { first, items });
  return {};
}

/** Appends the items that do not exist yet. Does nothing if the conversation does not exist. */
export async function appendNewItems(
  { kysely, seal }: SealedTransaction,
  ref: ConversationRef,
  items: readonly JsonObject[],
): Promise<void> {
  const first = await reserveNumbers(kysely, ref, items.length);
  if (first === undefined) return;
  const existingIds = await findExistingIds(kysely, ref.id, items);
  const added = [...new Map(items.map((item) => [toKey(item), item])).values()].filter((item) => !existingIds.has(toKey(item)));
  await insertItems({ kysely, seal }, ref.id, { first, items: added });
}

/**
 * Reserves `count` consecutive numbers and returns the first. Locks the conversation, so that concurrent appends wait. Returns
 * undefined if the conversation does not exist.
 */
async function reserveNumbers(
  kysely: Kysely<Schema>,
  { id, subject }: ConversationRef,
  count: number,
): Promise<number | undefined> {
  const conversation = await kysely
    .updateTable('conversations')
    .set(({ eb }) => ({ next_nth: eb('next_nth', '+', count) }))
    .where('id', '=', id)
    .where('subject', '=', subject)
    .returning('next_nth')
    .executeTakeFirst();
  return conversation && conversation.next_nth - count;
}

async function findExistingIds(kysely: Kysely<Schema>, conversation: string, items: readonly JsonObject[]): Promise<Set<string>> {
  const ids = items.map(toKey);
  const rows = await Array.fromAsync(splitIntoBatches(ids, rowsPerStatement), (batch) =>
    kysely
      .selectFrom('conversation_items')
      .select('id')
      .where('conversation', '=', conversation)
      .where('id', 'in', batch)
      .execute(),
  );
  return new Set(rows.flat().map(({ id }) => id));
}

async function insertItems(
  { kysely, seal }: SealedTransaction,
  conversation: string,
  { first, items }: { first: number; items: readonly JsonObject[] },
): Promise<void> {
  const rows = items.map((item, index) => toItemRow(seal, { id: conversation, nth: first + index, item }));
  for (const batch of splitIntoBatches(rows, rowsPerStatement))
    await kysely.insertInto('conversation_items').values(batch).execute();
  const addedBytes = rows.reduce((sum, { bytes }) => sum + bytes, 0);
  await kysely
    .updateTable('conversations')
    .set(({ eb }) => ({ bytes: eb('bytes', '+', addedBytes) }))
    .where('id', '=', conversation)
    .execute();
}

function toItemRow(seal: Seal, { id, nth, item }: { id: string; nth: number; item: JsonObject }): ConversationItemRow {
  const itemId = toKey(item);
  const sealed_item = seal.seal(JSON.stringify(item), toItemContext(id, nth));
  return { conversation: id, nth, id: itemId, sealed_item, bytes: sealed_item.length, is_hidden: isHiddenItem(item) ? 1 : 0 };
}

/**
 * Returns the key of an item. An upstream can send an ID that cannot be a key. A digest replaces it, because the
 * response has already been sent.
 */
function toKey(item: JsonObject): string {
  const id = String(item.id);
  return isStorableKey(id) ? id : `item_${hash('sha256', id)}`;
}

/** Returns the seal context of an item. */
export function toItemContext(conversation: string, nth: number): string {
  return `${conversation}/${nth}`;
}
