import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { isJsonObject, type JsonObject, parsePointer, toCanonicalText } from '#base/json/json.ts';
import { getCpuMs, PatternError, type PatternRun, withPatterns } from '#base/text/patterns.ts';
import { truncate } from '#base/text/truncate.ts';

const maxSchemaChars = 16 * 1024;
const maxValueChars = 256 * 1024;
/** Vendor schemas use large repetition counts. Their size is limited above, and the time limit covers the complete schema. */
const schemaPatternLimits = { maxSourceChars: maxSchemaChars, maxProgramSize: 20_000 };
/** Maximum CPU time in milliseconds for related checks, such as the checks of all tool calls of a reply. */
const maxTotalMs = 1_000;
/** Result for a schema that is too large or invalid. */
export const unusableSchema = 'the schema cannot be used';
/** Result for a check that takes too long. */
export const slowSchema = 'the check against the schema takes too long';
const maxDepth = 16;
/** Maximum number of errors in a message. */
const maxErrors = 20;
const maxErrorChars = 4_000;
/** Maximum number of schemas, listed values, and characters of references that related calls of `acceptsNull` visit. */
const maxNullSteps = 100_000;

/** Remaining CPU time for related checks. */
export class CheckTime {
  remainingMs = maxTotalMs;
}

interface SchemaCheck {
  /** Name of the value in the error. Default: `value`. */
  readonly name?: string;
  /** Shared time of related checks. If undefined, the check is independent. */
  readonly time?: CheckTime;
}

/**
 * Returns why a value does not match a JSON Schema, or undefined if it matches. Returns `unusableSchema` or `slowSchema` if the
 * check is not possible. Can block the event loop as `withPatterns` does, so yield between related checks.
 */
export function findSchemaError(value: object, schema: object, { name = 'value', time }: SchemaCheck = {}): string | undefined {
  if (JSON.stringify(value).length > maxValueChars) return 'it is too large';
  if (JSON.stringify(schema).length > maxSchemaChars || '$async' in schema) return unusableSchema;
  if (time !== undefined && time.remainingMs <= 0) return slowSchema;
  const startMs = getCpuMs();
  try {
    return withPatterns((patterns) => validate(value, schema, name, patterns));
  } catch (error) {
    return error instanceof PatternError && error.isTimeout ? slowSchema : unusableSchema;
  } finally {
    if (time !== undefined) time.remainingMs -= getCpuMs() - startMs;
  }
}

// The schema determines the time of both compilation and validation, so both run under the time limit for patterns.
function validate(value: object, schema: object, name: string, patterns: PatternRun): string | undefined {
  const ajv = new Ajv({ strict: false, meta: false, validateSchema: false, logger: false, code: { regExp: toRegExp(patterns) } });
  addFormats.default(ajv);
  addLinearKeywords(ajv);
  if (ajv.validate(schema, value)) return undefined;
  // Each alternative of a schema has its own error, so there can be hundreds of thousands.
  return truncate(ajv.errorsText(ajv.errors?.slice(0, maxErrors), { dataVar: name }), maxErrorChars);
}

/**
 * Replaces keywords that compare every item with every other value. With them, a list of 256 kB and an enum of 16 kB take
 * seconds.
 */
function addLinearKeywords(ajv: Ajv): void {
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    error: { message: 'must NOT have duplicate items' },
    validate: (isUnique: unknown, items: readonly unknown[]) =>
      isUnique !== true || new Set(items.map(toCanonicalText)).size === items.length,
  });
  ajv.removeKeyword('enum');
  ajv.addKeyword({
    keyword: 'enum',
    error: { message: 'must be equal to one of the allowed values' },
    compile(values: unknown) {
      if (!Array.isArray(values)) throw new Error('enum must be an array');
      const texts = new Set(values.map(toCanonicalText));
      return (value: unknown) => texts.has(toCanonicalText(value));
    },
  });
}

function toRegExp({ compile, isFound }: PatternRun) {
  const toTest = (source: string) => {
    const pattern = compile(source, schemaPatternLimits);
    return { test: (text: string) => isFound(pattern, text) };
  };
  return Object.assign(toTest, { code: 'toTest' });
}

/** Remaining steps for related calls of `acceptsNull`. */
export class NullSteps {
  remaining = maxNullSteps;
}

/**
 * Returns whether null matches a JSON Schema, or false if this takes too many steps. Evaluates types, values, references, and
 * combinations, and ignores other keywords. `root` is the schema that references point into.
 */
export function acceptsNull(schema: unknown, root: JsonObject, steps = new NullSteps(), depth = 0): boolean {
  if (!isJsonObject(schema)) return schema !== false;
  const { type, nullable, enum: values, const: constant, $ref, not } = schema;
  // Many places can reference one schema, so the number of visits can double with each level.
  steps.remaining -= 1 + getLength(type) + getLength(values) + getLength($ref);
  if (depth > maxDepth || steps.remaining < 0) return false;
  const inner = (node: unknown): boolean => acceptsNull(node, root, steps, depth + 1);
  const { anyOf, oneOf, allOf } = schema;
  if (type !== undefined && nullable !== true && !(Array.isArray(type) ? type : [type]).includes('null')) return false;
  if (Array.isArray(values) && !values.includes(null)) return false;
  if (constant !== undefined && constant !== null) return false;
  if (typeof $ref === 'string' && !inner(resolveReference(root, $ref))) return false;
  if (Array.isArray(anyOf) && !anyOf.some(inner)) return false;
  if (Array.isArray(oneOf) && oneOf.filter(inner).length !== 1) return false;
  if (Array.isArray(allOf) && !allOf.every(inner)) return false;
  return not === undefined || !inner(not);
}

function getLength(value: unknown): number {
  return Array.isArray(value) || typeof value === 'string' ? value.length : 0;
}

/** Returns the target of a reference within the schema, or false, which matches no value, if there is no target. */
function resolveReference(root: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#')) return false;
  let current: unknown = root;
  for (const key of parsePointer(reference)) {
    current = isJsonObject(current) && Object.hasOwn(current, key) ? current[key] : false;
  }
  return current;
}
