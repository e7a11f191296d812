import { type Compilable, type CompiledQuery, type Kysely, type QueryResult, sql } from 'kysely';
import type { Schema } from '../schema.ts';
import type { EndedFields } from './response-rows.ts';
import type { ResponseRow } from './response-tables.ts';

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
export const commitAsync = sql<null>`set_config('synchronous_commit', 'off', true)`;
export const asyncCommit = commitAsync.as('synced');

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

/** A statement with a constant text. Kysely builds it once, because that can take as long as writing a row. */
class PreparedStatement<Values, Row> {
  readonly #build: (kysely: Kysely<Schema>, values: Values) => Compilable<Row>;
  readonly #toParameters: (values: Values) => readonly unknown[];
  #built: CompiledQuery<Row> | undefined;

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
    this.#built ??= this.#first(kysely, values, parameters);
    return kysely.executeQuery({ ...this.#built, parameters });
  }

  #first(kysely: Kysely<Schema>, values: Values, parameters: readonly unknown[]): CompiledQuery<Row> {
    const built = this.#build(kysely, values).compile();
    const isSame =
      built.parameters.length === parameters.length && built.parameters.every((value, index) => value === parameters[index]);
    if (!isSame) throw new TypeError('the statement uses its values in another order than toParameters');
    return built;
  }
}
