import type { Compilable, CompiledQuery, Kysely, QueryResult } from 'kysely';
import type { Schema } from './schema.ts';

/**
 * A statement whose text is always the same. It is built once, by kysely, and asked with other values from then on: to build it can
 * take as long as to write a row.
 */
export class SteadyStatement<Values, Row> {
  readonly #build: (kysely: Kysely<Schema>, values: Values) => Compilable<Row>;
  readonly #toParameters: (values: Values) => readonly unknown[];
  #built: CompiledQuery<Row> | undefined;

  /** `toParameters` gives the values in the order in which `build` names them. */
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
    const isSame = built.parameters.length === parameters.length && built.parameters.every((each, at) => each === parameters[at]);
    if (!isSame) throw new TypeError('a statement names its values in another order than they are given in');
    return built;
  }
}
