import { type Kysely, sql } from 'kysely';
import type { JsonObject } from '#base/json/json.ts';
import type { Seal } from '#base/secrets/seal.ts';
import { isStorableKey } from '#base/text/storable-key.ts';
import {
  type ConversationRef,
  type ConversationRun,
  type ConversationStore,
  countPageItems,
  type ItemPage,
  type ItemQuery,
  type Oversize,
  type PageBounds,
  type StoredConversation,
} from '#domain/responses/conversation-store.ts';
import { isAliveAt } from '../engine/is-alive-at.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import { openSealedObject, requireStorable } from '../engine/stored-values.ts';
import type { Schema } from '../schema.ts';
import { appendItems, openItem } from './conversation-rows.ts';
import type { ConversationRow } from './response-tables.ts';
import { releaseConversation } from './run-end.ts';

const columns = ['id', 'subject', 'created_at_ms', 'sealed_metadata', 'bytes'] as const;
type FoundRow = Pick<ConversationRow, (typeof columns)[number]>;
const itemColumns = ['conversation', 'nth', 'id', 'sealed_item'] as const;

/** Conversations and their items in tables with one row each. */
export class SqlConversationStore implements ConversationStore {
  readonly #database: SqlDatabase;
  readonly #seal: Seal;

  constructor(database: SqlDatabase, seal: Seal) {
    this.#database = database;
    this.#seal = seal;
  }

  async add(
    { id, subject, createdAtMs, metadata }: StoredConversation,
    items: readonly JsonObject[],
  ): Promise<string | undefined> {
    requireStorable(id, subject);
    const row = { id, subject, created_at_ms: createdAtMs, sealed_metadata: this.#sealMetadata(id, metadata) };
    return this.#database.transact<string | undefined>(async (kysely, rollBack) => {
      await kysely
        .insertInto('conversations')
        .values({ ...row, next_nth: 0, bytes: row.sealed_metadata.length, run: null, run_owner: null })
        .execute();
      if (items.length === 0) return undefined;
      const { existingId } = (await appendItems({ kysely, seal: this.#seal }, { id, subject }, items)) ?? {};
      return existingId === undefined ? undefined : rollBack(existingId);
    });
  }

  async find(ref: ConversationRef): Promise<StoredConversation | undefined> {
    if (!isStorableKey(ref.id)) return undefined;
    const row = await this.#database.run((kysely) => findRow(kysely, ref));
    return row && this.#toConversation(row);
  }

  async setMetadata({ id, subject }: ConversationRef, metadata: JsonObject): Promise<StoredConversation | undefined> {
    if (!isStorableKey(id)) return undefined;
    const row = await this.#database.run((kysely) =>
      kysely
        .updateTable('conversations')
        .set({ sealed_metadata: this.#sealMetadata(id, metadata) })
        .where('id', '=', id)
        .where('subject', '=', subject)
        .returning(columns)
        .executeTakeFirst(),
    );
    return row && this.#toConversation(row);
  }

  async delete({ id, subject }: ConversationRef): Promise<boolean> {
    if (!isStorableKey(id)) return false;
    const { numDeletedRows } = await this.#database.run((kysely) =>
      kysely.deleteFrom('conversations').where('id', '=', id).where('subject', '=', subject).executeTakeFirstOrThrow(),
    );
    return numDeletedRows > 0n;
  }

  async append(ref: ConversationRef, items: readonly JsonObject[]): Promise<{ readonly existingId?: string } | undefined> {
    if (!isStorableKey(ref.id)) return undefined;
    return this.#database.transact((kysely) => appendItems({ kysely, seal: this.#seal }, ref, items));
  }

  async findItem(ref: ConversationRef, item: string): Promise<JsonObject | undefined> {
    if (!isStorableKey(ref.id) || !isStorableKey(item)) return undefined;
    const row = await this.#database.run((kysely) => selectItem(kysely, ref, item).executeTakeFirst());
    return row && openItem(this.#seal, row);
  }

  async deleteItem(ref: ConversationRef, item: string): Promise<boolean> {
    if (!isStorableKey(ref.id) || !isStorableKey(item)) return false;
    return this.#database.transact(async (kysely) => {
      const row = await selectItem(kysely, ref, item).executeTakeFirst();
      if (row === undefined) return false;
      const deleted = await kysely
        .deleteFrom('conversation_items')
        .where('conversation', '=', ref.id)
        .where('id', '=', item)
        .returning('bytes')
        .executeTakeFirst();
      await kysely
        .updateTable('conversations')
        .set(({ eb }) => ({ bytes: eb('bytes', '-', deleted?.bytes ?? 0) }))
        .where('id', '=', ref.id)
        .execute();
      return deleted !== undefined;
    });
  }

  async readPage(
    ref: ConversationRef,
    { after, before, ...query }: ItemQuery,
  ): Promise<ItemPage | { readonly unknown: 'after' | 'before' } | undefined> {
    if (!isStorableKey(ref.id)) return undefined;
    return this.#database.run(async (kysely) => {
      if ((await findRow(kysely, ref)) === undefined) return undefined;
      const positions: { after?: number; before?: number } = {};
      for (const [bound, id] of [['after', after] as const, ['before', before] as const]) {
        if (id === undefined) continue;
        const row = isStorableKey(id) ? await selectItem(kysely, ref, id).executeTakeFirst() : undefined;
        if (row === undefined) return { unknown: bound };
        positions[bound] = row.nth;
      }
      return this.#selectPage(kysely, ref.id, { ...query, ...positions });
    });
  }

  async readAll(ref: ConversationRef, maxBytes: number): Promise<readonly JsonObject[] | Oversize | undefined> {
    if (!isStorableKey(ref.id)) return undefined;
    return this.#database.run(async (kysely) => {
      const row = await findRow(kysely, ref);
      if (row === undefined || row.bytes > maxBytes) return row && { bytes: row.bytes };
      const rows = await kysely
        .selectFrom('conversation_items')
        .select(itemColumns)
        .where('conversation', '=', ref.id)
        .orderBy('nth')
        .execute();
      return rows.map((item) => openItem(this.#seal, item));
    });
  }

  async begin(
    { id, subject }: ConversationRef,
    { run, node }: ConversationRun,
    nowMs: number,
  ): Promise<'begun' | 'locked' | undefined> {
    if (!isStorableKey(id)) return undefined;
    return this.#database.run(async (kysely) => {
      const claim = kysely
        .updateTable('conversations')
        .set({ run, run_owner: node })
        .where('id', '=', id)
        .where('subject', '=', subject)
        .returning('id');
      let claimed = await claim.where('run', 'is', null).executeTakeFirst();
      if (claimed === undefined) {
        const current = await findRun(kysely, { id, subject }, this.#database.toStoreMs(nowMs));
        if (current === undefined) return undefined;
        if (current.is_alive) return 'locked';
        // Optimistic claim: only the node whose WHERE clause still matches the previous run gets the conversation.
        claimed = await claim.where(sql<boolean>`run is not distinct from ${current.run}`).executeTakeFirst();
      }
      return claimed === undefined ? 'locked' : 'begun';
    });
  }

  async release(conversation: string, run: string): Promise<void> {
    await this.#database.run((kysely) => releaseConversation(kysely, conversation, run));
  }

  async #selectPage(
    kysely: Kysely<Schema>,
    conversation: string,
    query: PageBounds & { order: 'asc' | 'desc'; after?: number; before?: number },
  ): Promise<ItemPage> {
    const { limit, order, after, before } = query;
    const [afterOperator, beforeOperator] = order === 'asc' ? (['>', '<'] as const) : (['<', '>'] as const);
    // The items nearest to `before` are selected in reverse order.
    const isBackward = before !== undefined && after === undefined;
    const direction = isBackward === (order === 'asc') ? 'desc' : 'asc';
    let selected = kysely
      .selectFrom('conversation_items')
      .select(['nth', 'bytes'])
      .where('conversation', '=', conversation)
      .where('is_hidden', '=', 0);
    if (after !== undefined) selected = selected.where('nth', afterOperator, after);
    if (before !== undefined) selected = selected.where('nth', beforeOperator, before);
    const sizes = await selected
      .orderBy('nth', direction)
      .limit(limit + 1)
      .execute();
    const count = countPageItems(sizes, query);
    if (count === 0) return { items: [], hasMore: false };
    const numbers = sizes.slice(0, count).map(({ nth }) => nth);
    const rows = await kysely
      .selectFrom('conversation_items')
      .select(itemColumns)
      .where('conversation', '=', conversation)
      .where('nth', 'in', numbers)
      .orderBy('nth', order)
      .execute();
    return { items: rows.map((row) => openItem(this.#seal, row)), hasMore: sizes.length > count };
  }

  #sealMetadata(id: string, metadata: JsonObject): string {
    return this.#seal.seal(JSON.stringify(metadata), id);
  }

  #toConversation({ id, subject, created_at_ms, sealed_metadata }: FoundRow): StoredConversation {
    return { id, subject, createdAtMs: created_at_ms, metadata: openSealedObject(this.#seal, sealed_metadata, id) };
  }
}

function findRow(kysely: Kysely<Schema>, { id, subject }: ConversationRef): Promise<FoundRow | undefined> {
  return kysely
    .selectFrom('conversations')
    .select(columns)
    .where('id', '=', id)
    .where('subject', '=', subject)
    .executeTakeFirst();
}

/** Returns the run that holds a conversation and whether its node is alive. */
function findRun(kysely: Kysely<Schema>, { id, subject }: ConversationRef, nowMs: number) {
  return kysely
    .selectFrom('conversations')
    .select('run')
    .select(sql<boolean | number>`(run is not null and ${isAliveAt(nowMs, 'conversations.run_owner')})`.as('is_alive'))
    .where('id', '=', id)
    .where('subject', '=', subject)
    .executeTakeFirst();
}

function selectItem(kysely: Kysely<Schema>, { id, subject }: ConversationRef, item: string) {
  return kysely
    .selectFrom('conversation_items')
    .innerJoin('conversations', 'conversations.id', 'conversation_items.conversation')
    .select(['conversation', 'nth', 'conversation_items.id', 'sealed_item'])
    .where('conversation_items.id', '=', item)
    .where('conversation', '=', id)
    .where('subject', '=', subject);
}
