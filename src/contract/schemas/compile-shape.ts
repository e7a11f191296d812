import type { Static, TSchema } from 'typebox';
import { Build } from 'typebox/schema';
import { Errors } from 'typebox/value';
import type { Shape } from '../errors/request-error.ts';

/** Returns the check of a schema. It is compiled on first use, because most processes use few of the schemas. */
export function compileShape<const Schema extends TSchema>(schema: Schema): Shape<Static<Schema>> {
  let check = (value: unknown): boolean => {
    const compiled = Build(schema).Evaluate();
    check = compiled.Check.bind(compiled);
    return check(value);
  };
  return {
    Check: (value): value is Static<Schema> => check(value),
    Errors: (value) => Errors(schema, value),
  };
}
