import { type Compilable, type CompiledQuery, type Kysely, type QueryResult, sql } from 'kysely';
import { filterObjects, isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Seal } from '#base/secrets/seal.ts';
import { isStorableKey } from '#base/text/storable-key.ts';
import type { ResponseStatus, RunningResponse, StoredResponse } from '#domain/responses/response-store.ts';
import { listItems } from '#domain/responses/stored-items.ts';
import { openSealedObject, requireStorable } from '../engine/stored-values.ts';
import type { Schema } from '../schema.ts';
import type { ResponseRow } from './response-tables.ts';

/** Columns of stored responses for reads. */
export const readColumns = [
  'id',
  'subject',
  'status',
  'is_background',
  'previous_id',
  'created_at_ms',
  'expires_at_ms',
  'sealed_content',
] as const;
export type ReadRow = Pick<ResponseRow, (typeof readColumns)[number]>;

/** Fields that change when a response ends. */
export type EndedFields = Pick<ResponseRow, 'status' | 'bytes' | 'item_ids' | 'sealed_content'>;

/** Returns the row of a response that has ended. Throws `StoreError` for keys that cannot be stored. */
export function toRow(seal: Seal, stored: StoredResponse): ResponseRow {
  const { id, subject, previousId } = stored;
  requireStorable(id, subject);
  return {
    ...{ id, subject, previous_id: previousId ?? null },
    ...{ is_background: toBackgroundColumn(stored), owner: null, sealed_run: null },
    ...{ created_at_ms: stored.createdAtMs, expires_at_ms: stored.expiresAtMs },
    ...toEndedFields(seal, stored),
  };
}

const chatRunValue = 2;

function toBackgroundColumn({ isBackground, isChatRun }: StoredResponse): number {
  if (isChatRun === true) return chatRunValue;
  return isBackground ? 1 : 0;
}

/** Returns the row of a response that starts. */
export function toRunningRow(seal: Seal, { node, ...stored }: RunningResponse, run: JsonObject | undefined): ResponseRow {
  const row = toRow(seal, stored);
  return { ...row, owner: node, sealed_run: run === undefined ? null : seal.seal(JSON.stringify(run), toRunContext(row.id)) };
}

export function toEndedFields(seal: Seal, stored: StoredResponse): EndedFields {
  const { id, status, response, input, items } = stored;
  const content = { response, input, ...(items !== undefined && { items }) };
  const sealed_content = seal.seal(JSON.stringify(content), id);
  return { status, sealed_content, bytes: sealed_content.length, item_ids: JSON.stringify(listItemIds(stored)) };
}

function listItemIds(stored: StoredResponse): readonly string[] {
  const ids = listItems(stored).map(({ id }) => id);
  return [...new Set(ids.filter((id): id is string => typeof id === 'string' && isStorableKey(id)))];
}

export function fromRow(seal: Seal, row: ReadRow): StoredResponse {
  const { response, input, items } = openSealedObject(seal, row.sealed_content, row.id);
  const status = row.status as ResponseStatus;
  return {
    ...{ id: row.id, subject: row.subject, status, isBackground: row.is_background > 0 },
    ...(row.is_background === chatRunValue && { isChatRun: true }),
    ...{ previousId: row.previous_id ?? undefined, createdAtMs: row.created_at_ms, expiresAtMs: row.expires_at_ms },
    response: { ...(isJsonObject(response) && response), status },
    input: filterObjects(input),
    items: items === undefined ? undefined : filterObjects(items),
  };
}

/** Returns the seal context of the data that another node needs to run the response. */
export function toRunContext(id: string): string {
  return `${id}/run`;
}

/** Returns the seal context of events. */
export function toEventsContext(id: string, first: number): string {
  return `${id}/events/${first}`;
}

interface EndStatementFields extends EndedFields {
  readonly id: string;
  /** The node that must own the response. */
  readonly node: string;
}

/** States of responses that have not ended. */
export const unfinishedStates = ['queued', 'in_progress'] as const;

/**
 * In the RETURNING clause of a statement, commits it asynchronously: the statement is acknowledged as soon as its writes are
 * visible. They are on disk about a millisecond later with SQLite, and after at most three times `wal_writer_delay` with
 * PostgreSQL. If a node is killed, these writes are not lost. If a machine loses power, these writes may be lost.
 */
export const asyncCommit = sql<null>`set_config('synchronous_commit', 'off', true)`.as('synced');

/** Statements on the critical path of a response. */
export class ResponseStatements {
  /** Commits asynchronously. */
  readonly add = new PreparedStatement<ResponseRow, unknown>(
    (kysely, row) => kysely.insertInto('responses').values(row).returning(asyncCommit),
    (row) => Object.values(row),
  );
  readonly end = createEndStatement(false);
  readonly endWithAsyncCommit = createEndStatement(true);
}

function createEndStatement(isAsync: boolean): PreparedStatement<EndStatementFields, { readonly id: string }> {
  return new PreparedStatement(
    (kysely, { id, node, ...fields }) =>
      kysely
        .updateTable('responses')
        .set({ ...fields, owner: null, sealed_run: null })
        .where('id', '=', id)
        .where('owner', '=', node)
        .where('status', 'in', unfinishedStates)
        .returning('id')
        .$if(isAsync, (ending) => ending.returning(asyncCommit)),
    ({ id, node, ...fields }) => [...Object.values(fields), null, null, id, node, ...unfinishedStates],
  );
}

/** A statement with a constant text. It is compiled once, because that can take as long as writing a row. */
class PreparedStatement<Values, Row> {
  readonly #build: (kysely: Kysely<Schema>, values: Values) => Compilable<Row>;
  readonly #toParameters: (values: Values) => readonly unknown[];
  #compiled: CompiledQuery<Row> | undefined;

  /** `toParameters` must return the values in the order that `build` uses. */
  constructor(
    build: (kysely: Kysely<Schema>, values: Values) => Compilable<Row>,
    toParameters: (values: Values) => readonly unknown[],
  ) {
    this.#build = build;
    this.#toParameters = toParameters;
  }

  run(kysely: Kysely<Schema>, values: Values): Promise<QueryResult<Row>> {
    const parameters = this.#toParameters(values);
    this.#compiled ??= this.#compile(kysely, values, parameters);
    return kysely.executeQuery({ ...this.#compiled, parameters });
  }

  #compile(kysely: Kysely<Schema>, values: Values, parameters: readonly unknown[]): CompiledQuery<Row> {
    const compiled = this.#build(kysely, values).compile();
    const isSame =
      compiled.parameters.length === parameters.length &&
      compiled.parameters.every((value, index) => value === parameters[index]);
    if (!isSame) throw new TypeError('the statement uses its values in another order than toParameters');
    return compiled;
  }
}
