import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { type PatternRun, withPatterns } from '#base/text/patterns.ts';

const maxSchemaChars = 16 * 1024;
const maxValueChars = 256 * 1024;
/** Schemas of vendors use large repetition counts. Their size is bounded above and the time limit covers the complete schema. */
const schemaPatternLimits = { maxSourceChars: maxSchemaChars, maxProgramSize: 20_000 };
/** Said of a schema that is too large, takes too long, or is none. */
export const unusableSchema = 'the schema cannot be used';

/** What keeps a value from following a JSON Schema, in words; undefined if it does follow. `unusableSchema` if nobody can tell. `name` is what the value is called there. */
export function schemaFault(value: object, schema: object, name = 'value'): string | undefined {
  if (JSON.stringify(value).length > maxValueChars) return 'it is too large';
  if (JSON.stringify(schema).length > maxSchemaChars || '$async' in schema) return unusableSchema;
  try {
    return withPatterns((patterns) => validate(value, schema, name, patterns));
  } catch {
    return unusableSchema;
  }
}

// Compiling and validating both take time that the schema decides, so both run under the time limit for patterns.
function validate(value: object, schema: object, name: string, patterns: PatternRun): string | undefined {
  const ajv = new Ajv({ strict: false, meta: false, validateSchema: false, logger: false, code: { regExp: toRegExp(patterns) } });
  addFormats.default(ajv);
  return ajv.validate(schema, value) ? undefined : ajv.errorsText(ajv.errors, { dataVar: name });
}

function toRegExp({ compile, isFound }: PatternRun) {
  const toTest = (source: string) => {
    const pattern = compile(source, schemaPatternLimits);
    return { test: (text: string) => isFound(pattern, text) };
  };
  return Object.assign(toTest, { code: 'toTest' });
}
