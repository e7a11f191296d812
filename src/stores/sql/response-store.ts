import { type Kysely, sql } from 'kysely';
import { Batches } from '#base/batches.ts';
import type { JsonObject } from '#base/json.ts';
import type { Seal } from '#base/seal.ts';
import { isStorableKey } from '#domain/deployments/storable-key.ts';
import type {
  BackgroundQuery,
  BrokenChain,
  ChainBounds,
  EndedResponse,
  ResponsePlace,
  ResponseStore,
  RunningResponse,
  StoredResponse,
} from '#domain/responses/response-store.ts';
import { readBackgroundList } from './background-list.ts';
import { readChain } from './response-chain.ts';
import { findStoredItems } from './response-items.ts';
import { fromRow, readColumns, toRow, toRunningRow } from './response-rows.ts';
import type { ResponseRow } from './response-schema.ts';
import { ResponseStatements, syncedBehind } from './response-statements.ts';
import { makeRoom, sweepResponses } from './response-sweep.ts';
import { endRun, isSyncedBehind } from './run-end.ts';
import { SqlRunStore } from './run-store.ts';
import type { Schema } from './schema.ts';
import type { SqlDatabase } from './sql-database.ts';

interface Adding {
  readonly row: ResponseRow;
  /** Whether somebody who does not wait for its answer was promised it: it is on the disk before it is answered. */
  readonly isSyncedFirst: boolean;
}

interface Ending extends EndedResponse {
  readonly node: string;
}

/** Responses, a row each, with their content sealed; those that begin or end together are written together. */
export class SqlResponseStore implements ResponseStore {
  readonly runs: SqlRunStore;
  readonly #database: SqlDatabase;
  readonly #seal: Seal;
  readonly #statements = new ResponseStatements();
  readonly #added: Batches<Adding, undefined>;
  readonly #ended: Batches<Ending, boolean>;

  constructor(database: SqlDatabase, seal: Seal) {
    this.#database = database;
    this.#seal = seal;
    this.runs = new SqlRunStore(database, seal, this.#statements);
    this.#added = new Batches((adding) => this.#insert(adding));
    this.#ended = new Batches((ending) => this.#end(ending));
  }

  async find({ id, subject }: ResponsePlace, nowMs: number): Promise<StoredResponse | undefined> {
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

  async chain(place: ResponsePlace, bounds: ChainBounds): Promise<readonly StoredResponse[] | BrokenChain> {
    if (!isStorableKey(place.id)) return { absent: place.id };
    const rows = await this.#database.run((kysely) => readChain(kysely, place, bounds));
    return Array.isArray(rows) ? rows.map((row) => fromRow(this.#seal, row)) : (rows as BrokenChain);
  }

  async listBackground(subject: string, asked: BackgroundQuery): Promise<readonly StoredResponse[] | undefined> {
    const rows = await this.#database.run((kysely) => readBackgroundList(kysely, subject, asked));
    return rows?.map((row) => fromRow(this.#seal, row));
  }

  findItems(subject: string, ids: readonly string[]): Promise<ReadonlyMap<string, JsonObject>> {
    return findStoredItems({ database: this.#database, seal: this.#seal }, subject, ids);
  }

  async begin(response: RunningResponse, run?: JsonObject): Promise<void> {
    await this.#added.add({ row: toRunningRow(this.#seal, response, run), isSyncedFirst: response.isBackground });
  }

  async add(response: StoredResponse): Promise<void> {
    await this.#added.add({ row: toRow(this.#seal, response), isSyncedFirst: false });
  }

  end(ended: EndedResponse, node: string): Promise<boolean> {
    return this.#ended.add({ ...ended, node });
  }

  async delete({ id, subject }: ResponsePlace): Promise<boolean> {
    if (!isStorableKey(id)) return false;
    const { numDeletedRows } = await this.#database.run((kysely) =>
      kysely.deleteFrom('responses').where('id', '=', id).where('subject', '=', subject).executeTakeFirstOrThrow(),
    );
    return numDeletedRows > 0n;
  }

  async cancel({ id, subject }: ResponsePlace): Promise<StoredResponse | undefined> {
    if (!isStorableKey(id)) return undefined;
    return this.#database.run(async (kysely) => {
      const its = { id, subject };
      await kysely
        .updateTable('responses')
        .set({ status: 'cancelled', sealed_run: null })
        .set({ owner: sql<string | null>`nullif(owner, '')` })
        .where((row) => row.and(its))
        .where('is_background', '=', 1)
        .where('status', 'in', ['queued', 'in_progress'])
        .execute();
      const row = await kysely
        .selectFrom('responses')
        .select(readColumns)
        .where((each) => each.and(its))
        .executeTakeFirst();
      return row && fromRow(this.#seal, row);
    });
  }

  keepWithin(subject: string, maxBytes: number): Promise<number> {
    return this.#database.run((kysely) => makeRoom(kysely, subject, maxBytes));
  }

  sweep(nowMs: number): Promise<number> {
    return this.#database.run((kysely) => sweepResponses(kysely, nowMs));
  }

  /** Users in one order, so that two nodes that write for the same ones never wait for each other. */
  async #insert(adding: readonly Adding[]): Promise<readonly undefined[]> {
    const [first] = adding;
    const isSyncedFirst = adding.some((each) => each.isSyncedFirst);
    if (first !== undefined && adding.length === 1 && !isSyncedFirst) {
      await this.#database.run((kysely) => this.#statements.add.run(kysely, first.row));
      return [undefined];
    }
    const rows = adding.map(({ row }) => row).toSorted((one, other) => (one.subject < other.subject ? -1 : 1));
    await this.#database.run(async (kysely) => {
      const inserting = kysely.insertInto('responses').values(rows);
      await (isSyncedFirst ? inserting : inserting.returning(syncedBehind)).execute();
    });
    return adding.map(() => undefined);
  }

  async #end(ending: readonly Ending[]): Promise<readonly boolean[]> {
    const [first] = ending;
    const isBehind = ending.every(isSyncedBehind);
    const write = async (kysely: Kysely<Schema>, { node, ...ended }: Ending): Promise<boolean> =>
      endRun({ kysely, seal: this.#seal, statements: this.#statements, isOwn: true, isBehind }, ended, node);
    if (first !== undefined && ending.length === 1 && isBehind)
      return [await this.#database.run((kysely) => write(kysely, first))];
    return this.#database.transact(async (transaction) => {
      const outcomes = new Map<Ending, boolean>();
      const inOrder = ending.toSorted((one, other) => (one.response.subject < other.response.subject ? -1 : 1));
      for (const each of inOrder) outcomes.set(each, await write(transaction, each));
      return ending.map((each) => outcomes.get(each) ?? false);
    });
  }
}
