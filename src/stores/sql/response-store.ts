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

interface Ending extends EndedResponse {
  readonly node: string;
}

/** Responses, a row each, with their content sealed; those that begin or end together are written together. */
export class SqlResponseStore implements ResponseStore {
  readonly runs: SqlRunStore;
  readonly #database: SqlDatabase;
  readonly #seal: Seal;
  readonly #statements = new ResponseStatements();
  readonly #added: Batches<ResponseRow, undefined>;
  readonly #ended: Batches<Ending, boolean>;

  constructor(database: SqlDatabase, seal: Seal) {
    this.#database = database;
    this.#seal = seal;
    this.runs = new SqlRunStore(database, seal, this.#statements);
    this.#added = new Batches((rows) => this.#insert(rows));
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
    await this.#added.add(toRunningRow(this.#seal, response, run));
  }

  async add(response: StoredResponse): Promise<void> {
    await this.#added.add(toRow(this.#seal, response));
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
  async #insert(rows: readonly ResponseRow[]): Promise<readonly undefined[]> {
    const [first] = rows;
    const isBehind = rows.every((row) => row.is_background === 0);
    if (first !== undefined && rows.length === 1 && isBehind) {
      await this.#database.run((kysely) => this.#statements.add.run(kysely, first));
      return [undefined];
    }
    const inOrder = rows.toSorted((one, other) => (one.subject < other.subject ? -1 : 1));
    await this.#database.run(async (kysely) => {
      const inserting = kysely.insertInto('responses').values(inOrder);
      await (isBehind ? inserting.returning(syncedBehind) : inserting).execute();
    });
    return rows.map(() => undefined);
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
