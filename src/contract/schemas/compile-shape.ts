import type { Static, TSchema } from 'typebox';
import { Build } from 'typebox/schema';
import { Errors } from 'typebox/value';
import { requireShape, type Shape } from '../errors/request-error.ts';

/**
 * Returns the check of a schema. It is compiled on first use, because most processes use few of the schemas. With `isEager`, it is
 * compiled immediately, so that the first call does not wait for it.
 */
export function compileShape<const Schema extends TSchema>(schema: Schema, { isEager = false } = {}): Shape<Static<Schema>> {
  // Only the function is stored, because the result of `Evaluate` also holds the pieces of the generated code.
  const compile = () => Reflect.get(Build(schema).Evaluate(), 'check') as (value: unknown) => boolean;
  let check = isEager ? compile() : undefined;
  return {
    Check(value): value is Static<Schema> {
      check ??= compile();
      return check(value);
    },
    Errors: (value) => Errors(schema, value),
  };
}

/** Returns a function that returns a value of the schema. The function throws `invalid_request` for other values. */
export function createCheck<const Schema extends TSchema>(schema: Schema): (value: unknown) => Static<Schema> {
  const shape = compileShape(schema);
  return (value) => requireShape<Static<Schema>>(shape as never, value);
}
