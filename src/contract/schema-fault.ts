import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { RE2JS } from 're2js';
import { runWithin } from '#base/run-within.ts';

const maxSchemaChars = 16 * 1024;
const maxValueChars = 256 * 1024;
/** The schema comes from outside, so it may be anything: checking it may take this long, and nobody else is served meanwhile. */
const maxMs = 250;
/** Said of a schema that is too large, takes too long, or is none. */
export const unusableSchema = 'the schema cannot be used';

/** What keeps a value from following a JSON Schema, in words; undefined if it does follow. `unusableSchema` if nobody can tell. `name` is what the value is called there. */
export function schemaFault(value: object, schema: object, name = 'value'): string | undefined {
  if (JSON.stringify(value).length > maxValueChars) return 'it is too large';
  if (JSON.stringify(schema).length > maxSchemaChars || '$async' in schema) return unusableSchema;
  const ajv = new Ajv({ strict: false, meta: false, validateSchema: false, logger: false, code: { regExp: toLinear } });
  addFormats.default(ajv);
  try {
    const follows = runWithin(maxMs, () => ajv.validate(schema, value));
    return follows ? undefined : ajv.errorsText(ajv.errors, { dataVar: name });
  } catch {
    return unusableSchema;
  }
}

/** A pattern whose time grows with the text alone. Throws if it has what RE2 leaves out. */
const toLinear = Object.assign(
  (pattern: string) => {
    const expression = RE2JS.compile(pattern);
    return { test: (text: string) => expression.matcher(text).find() };
  },
  { code: 'toLinear' },
);
