import { type Kysely, sql } from 'kysely';
import type { JsonObject } from '#base/json/json.ts';
import type { Seal } from '#base/secrets/seal.ts';
import { Batches, splitIntoBatches } from '#base/stream/batches.ts';
import { isStorableKey } from '#base/text/storable-key.ts';
import { countPageItems, type Oversize } from '#domain/responses/conversation-store.ts';
import type {
  BackgroundQuery,
  BrokenChain,
  ChainBounds,
  ChainLink,
  EndedResponse,
  ResponsePage,
  ResponseRef,
  ResponseStore,
  RunningResponse,
  StoredResponse,
  UnconfirmedWrite,
} from '#domain/responses/response-store.ts';
import { listItems } from '#domain/responses/stored-items.ts';
import type { SqlDatabase } from '../engine/sql-database.ts';
import type { Schema } from '../schema.ts';
import { openItem } from './conversation-rows.ts';
import {
  asyncCommit,
  fromRow,
  type ReadRow,
  ResponseStatements,
  readColumns,
  toRow,
  toRunningRow,
  unfinishedStates,
} from './response-rows.ts';
import { freeSpace, sweepResponses } from './response-sweep.ts';
import type { ResponseRow } from './response-tables.ts';
import { canCommitAsync, endRun } from './run-end.ts';
import { SqlRunStore } from './run-store.ts';

interface ResponseEnd extends EndedResponse {
  readonly node: string;
}

/** Responses in a table with one row each and sealed content. Responses that start or end together are written in batches. */
export class SqlResponseStore implements ResponseStore {
  readonly runs: SqlRunStore;
  readonly #database: SqlDatabase;
  readonly #seal: Seal;
  readonly #statements = new ResponseStatements();
  readonly #addBatches: Batches<ResponseRow, undefined>;
  readonly #endBatches: Batches<ResponseEnd, boolean>;

  constructor(database: SqlDatabase, seal: Seal) {
    this.#database = database;
    this.#seal = seal;
    this.runs = new SqlRunStore(database, seal, this.#statements);
    this.#addBatches = new Batches((rows) => this.#insert(rows));
    this.#endBatches = new Batches((ending) => this.#end(ending));
  }

  async find({ id, subject }: ResponseRef, nowMs: number): Promise<StoredResponse | undefined> {
    if (!isStorableKey(id)) return undefined;
    const row = await this.#database.run((kysely) =>
      kysely
        .selectFrom('responses')
        .select(readColumns)
        .where('id', '=', id)
        .where('subject', '=', subject)
        .where('expires_at_ms', '>', nowMs)
        .executeTakeFirst(),
    );
    return row && fromRow(this.#seal, row);
  }

  async findChain(ref: ResponseRef, bounds: ChainBounds): Promise<readonly StoredResponse[] | BrokenChain> {
    if (!isStorableKey(ref.id)) return { missingId: ref.id };
    const rows = await this.#database.run((kysely) => readChain(kysely, ref, bounds));
    return Array.isArray(rows) ? rows.map((row) => fromRow(this.#seal, row)) : (rows as BrokenChain);
  }

  async listChain(ref: ResponseRef, { nowMs, maxBytes }: ChainBounds): Promise<readonly ChainLink[]> {
    if (!isStorableKey(ref.id)) return [];
    const links = await this.#database.run((kysely) => readLinks(kysely, ref, nowMs));
    const isComplete = links.at(-1)?.previous_id === null && sumBytes(links.map(({ bytes }) => bytes)) <= maxBytes;
    return isComplete ? links.toReversed() : links.slice(0, 1);
  }

  async listBackground(subject: string, query: BackgroundQuery): Promise<ResponsePage | undefined> {
    const page = await this.#database.run((kysely) => readBackgroundPage(kysely, subject, query));
    return page && { responses: page.rows.map((row) => fromRow(this.#seal, row)), hasMore: page.hasMore };
  }

  async findItems(
    subject: string,
    ids: readonly string[],
    maxBytes: number,
  ): Promise<ReadonlyMap<string, JsonObject> | Oversize> {
    const storableIds = [...new Set(ids)].filter(isStorableKey);
    const locations = await Array.fromAsync(splitIntoBatches(storableIds, rowsPerStatement), (batch) =>
      this.#database.run((kysely) => locateItems(kysely, subject, batch)),
    );
    const responses = locations.flatMap((batch) => batch.responses);
    const conversationItems = locations.flatMap((batch) => batch.conversationItems);
    const responseBytes = new Map(responses.map(({ response, bytes }) => [response, bytes]));
    const bytes = sumBytes([...responseBytes.values(), ...conversationItems.map((item) => item.bytes)]);
    if (bytes > maxBytes) return { bytes };
    const itemsById = new Map<string, JsonObject>();
    const rows = await this.#database.run((kysely) => readRows(kysely, [...responseBytes.keys()]));
    const itemsByResponse = new Map([...rows].map(([id, row]) => [id, listItems(fromRow(this.#seal, row))]));
    for (const { id, response } of responses) {
      const item = itemsByResponse.get(response)?.findLast((item) => item.id === id);
      if (item !== undefined) itemsById.set(id, item);
    }
    const conversationIds = conversationItems.map(({ id }) => id);
    for (const batch of splitIntoBatches(conversationIds, rowsPerStatement)) {
      const items = await this.#database.run((kysely) =>
        selectConversationItems(kysely, subject, batch)
          .select(['conversation_items.id', 'conversation', 'nth', 'sealed_item'])
          .execute(),
      );
      for (const item of items) itemsById.set(item.id, openItem(this.#seal, item));
    }
    return itemsById;
  }

  async begin(response: RunningResponse, run?: JsonObject): Promise<void> {
    await this.#addBatches.add(toRunningRow(this.#seal, response, run));
  }

  async add(response: StoredResponse): Promise<void> {
    await this.#addBatches.add(toRow(this.#seal, response));
  }

  end(ended: EndedResponse, node: string): Promise<boolean> {
    return this.#endBatches.add({ ...ended, node });
  }

  async delete({ id, subject }: ResponseRef): Promise<boolean> {
    if (!isStorableKey(id)) return false;
    const { numDeletedRows } = await this.#database.run((kysely) =>
      kysely.deleteFrom('responses').where('id', '=', id).where('subject', '=', subject).executeTakeFirstOrThrow(),
    );
    return numDeletedRows > 0n;
  }

  /**
   * Does not delete a response with the same ID that another node answers. Only a run with stored data can be claimed by another
   * node, and its ID is random.
   */
  async deleteUnconfirmed({ id, subject, createdAtMs }: UnconfirmedWrite, node: string): Promise<void> {
    await this.#database.run((kysely) =>
      kysely
        .deleteFrom('responses')
        .where((row) => row.and({ id, subject, created_at_ms: createdAtMs }))
        .where(({ or, eb }) => or([eb('owner', 'is', null), eb('owner', '=', node), eb('sealed_run', 'is not', null)]))
        .execute(),
    );
  }

  async cancel({ id, subject }: ResponseRef): Promise<StoredResponse | undefined> {
    if (!isStorableKey(id)) return undefined;
    return this.#database.run(async (kysely) => {
      const ref = { id, subject };
      await kysely
        .updateTable('responses')
        .set({ status: 'cancelled', sealed_run: null })
        .set({ owner: sql<string | null>`nullif(owner, '')` })
        .where((row) => row.and(ref))
        .where('is_background', '>', 0)
        .where('status', 'in', unfinishedStates)
        .execute();
      const row = await kysely
        .selectFrom('responses')
        .select(readColumns)
        .where((row) => row.and(ref))
        .executeTakeFirst();
      return row && fromRow(this.#seal, row);
    });
  }

  deleteOldest(subject: string, maxBytes: number): Promise<number> {
    return freeSpace(this.#database, subject, maxBytes);
  }

  sweep(nowMs: number): Promise<number> {
    return sweepResponses(this.#database, nowMs);
  }

  /** Sorts rows by user to avoid deadlocks between nodes. */
  async #insert(rows: readonly ResponseRow[]): Promise<readonly undefined[]> {
    const [first] = rows;
    const isAsync = rows.every((row) => row.is_background === 0);
    if (first !== undefined && rows.length === 1 && isAsync) {
      await this.#database.run((kysely) => this.#statements.add.run(kysely, first));
      return [undefined];
    }
    const inOrder = rows.toSorted((left, right) => (left.subject < right.subject ? -1 : 1));
    await this.#database.run(async (kysely) => {
      const inserting = kysely.insertInto('responses').values(inOrder);
      await (isAsync ? inserting.returning(asyncCommit) : inserting).execute();
    });
    return rows.map(() => undefined);
  }

  async #end(endings: readonly ResponseEnd[]): Promise<readonly boolean[]> {
    const [first] = endings;
    const isAsync = endings.every(canCommitAsync);
    const write = async (kysely: Kysely<Schema>, { node, ...ended }: ResponseEnd): Promise<boolean> =>
      endRun({ kysely, seal: this.#seal, statements: this.#statements, isAsync }, ended, node);
    if (first !== undefined && endings.length === 1 && isAsync)
      return [await this.#database.run((kysely) => write(kysely, first))];
    return this.#database.transact(async (transaction) => {
      const outcomes = new Map<ResponseEnd, boolean>();
      const inOrder = endings.toSorted((left, right) => (left.response.subject < right.response.subject ? -1 : 1));
      if (endings.length > 1) await lockConversations(transaction, endings);
      for (const ending of inOrder) outcomes.set(ending, await write(transaction, ending));
      return endings.map((item) => outcomes.get(item) ?? false);
    });
  }
}

/**
 * Locks the conversations of several endings before any response. All other writes lock in this order too, which avoids
 * deadlocks. A single ending locks its own conversation first.
 */
async function lockConversations(transaction: Kysely<Schema>, endings: readonly ResponseEnd[]): Promise<void> {
  const ids = endings.flatMap(({ turn }) => (turn === undefined ? [] : [turn.conversation]));
  if (ids.length === 0) return;
  await transaction
    .updateTable('conversations')
    .set(({ ref }) => ({ run: ref('run') }))
    .where('id', 'in', ids)
    .execute();
}

/** Returns a page of the background responses of a user, latest first. Returns undefined if `after` is not one of them. */
async function readBackgroundPage(kysely: Kysely<Schema>, subject: string, { after, nowMs, ...bounds }: BackgroundQuery) {
  const ownResponses = kysely.selectFrom('responses').where('subject', '=', subject).where('is_background', '=', 1);
  let latest = ownResponses.select(['id', 'bytes']).where('expires_at_ms', '>', nowMs);
  if (after !== undefined) {
    if (!isStorableKey(after)) return undefined;
    const last = await ownResponses.select('created_at_ms').where('id', '=', after).executeTakeFirst();
    if (last === undefined) return undefined;
    const { created_at_ms: atMs } = last;
    latest = latest.where(({ eb, or }) =>
      or([eb('created_at_ms', '<', atMs), eb('created_at_ms', '=', atMs).and('id', '<', after)]),
    );
  }
  const sizes = await latest
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(bounds.limit + 1)
    .execute();
  const ids = sizes.slice(0, countPageItems(sizes, bounds)).map(({ id }) => id);
  const rows = await readRows(kysely, ids);
  return { rows: ids.flatMap((id) => rows.get(id) ?? []), hasMore: sizes.length > ids.length };
}

interface Link extends ChainLink {
  readonly previous_id: string | null;
}

const rowsPerStatement = 500;

/** Returns the rows of a response and of all responses that it continues, earliest first. */
async function readChain(
  kysely: Kysely<Schema>,
  { id, subject }: ResponseRef,
  { nowMs, maxBytes }: ChainBounds,
): Promise<readonly ReadRow[] | BrokenChain> {
  const links = await readLinks(kysely, { id, subject }, nowMs);
  const last = links.at(-1);
  if (last === undefined) return { missingId: id };
  if (last.previous_id !== null) return { missingId: last.previous_id };
  const bytes = sumBytes(links.map(({ bytes }) => bytes));
  if (bytes > maxBytes) return { bytes };
  const rows = await readRows(
    kysely,
    links.map((link) => link.id),
  );
  const missing = links.find((link) => !rows.has(link.id));
  if (missing !== undefined) return { missingId: missing.id };
  return links.map((link) => rows.get(link.id) as ReadRow).reverse();
}

/** Returns a response and those that it continues, latest first. If one is missing, it is the `previous_id` of the last link. */
async function readLinks(kysely: Kysely<Schema>, { id, subject }: ResponseRef, nowMs: number): Promise<readonly Link[]> {
  const { rows } = await sql<Link>`
    with recursive chain (id, previous_id, bytes) as (
      select id, previous_id, bytes from responses where id = ${id} and subject = ${subject} and expires_at_ms > ${nowMs}
      union all
      select earlier.id, earlier.previous_id, earlier.bytes from responses as earlier
      join chain on earlier.id = chain.previous_id where earlier.subject = ${subject}
    ) select id, previous_id, bytes from chain`.execute(kysely);
  return rows;
}

function sumBytes(sizes: readonly number[]): number {
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

async function readRows(kysely: Kysely<Schema>, ids: readonly string[]): Promise<ReadonlyMap<string, ReadRow>> {
  const rows = await Array.fromAsync(splitIntoBatches(ids, rowsPerStatement), (batch) =>
    kysely.selectFrom('responses').select(readColumns).where('id', 'in', batch).execute(),
  );
  return new Map(rows.flat().map((row) => [row.id, row]));
}

/**
 * Returns, for each item, the newest response of the user that contains it. Also returns the items that only a conversation
 * contains. Uses two queries, so that neither engine reads all responses of the user.
 */
async function locateItems(kysely: Kysely<Schema>, subject: string, ids: readonly string[]) {
  // Clients choose the IDs of their items, so other users and many responses can have the same ones.
  const itemResponses = await kysely
    .selectFrom('response_items')
    .innerJoin('responses', 'responses.id', 'response_items.response')
    .select(['response_items.id', 'response', 'bytes'])
    .where('response_items.id', 'in', ids)
    .where('subject', '=', subject)
    .orderBy('created_at_ms')
    .execute();
  const newest = new Map(itemResponses.map((row) => [row.id, row]));
  const responses = [...newest.values()];
  const missingIds = ids.filter((id) => !newest.has(id));
  if (missingIds.length === 0) return { responses, conversationItems: [] };
  const conversationItems = await selectConversationItems(kysely, subject, missingIds)
    .select(['conversation_items.id', 'conversation_items.bytes'])
    .execute();
  return { responses, conversationItems };
}

function selectConversationItems(kysely: Kysely<Schema>, subject: string, ids: readonly string[]) {
  return kysely
    .selectFrom('conversation_items')
    .innerJoin('conversations', 'conversations.id', 'conversation_items.conversation')
    .where('conversation_items.id', 'in', ids)
    .where('subject', '=', subject);
}
