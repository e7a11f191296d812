import type { Static, TSchema } from 'typebox';
import { Build } from 'typebox/schema';
import { Errors } from 'typebox/value';
import type { Shape } from '../errors/request-error.ts';

/**
 * Returns the check of a schema. It is compiled on first use, because most processes use few of the schemas. With `isEager`, it is
 * compiled immediately, so that the first call does not wait for it.
 */
export function compileShape<const Schema extends TSchema>(schema: Schema, { isEager = false } = {}): Shape<Static<Schema>> {
  let compiled = isEager ? Build(schema).Evaluate() : undefined;
  return {
    Check(value): value is Static<Schema> {
      compiled ??= Build(schema).Evaluate();
      return compiled.Check(value);
    },
    Errors: (value) => Errors(schema, value),
  };
}
