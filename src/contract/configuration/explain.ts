import type { TSchema } from 'typebox';
import type { TLocalizedValidationError } from 'typebox/error';
import { Settings } from 'typebox/system';
import { Errors } from 'typebox/value';
import { parsePointer } from '#base/json/json.ts';
import { didYouMean } from './did-you-mean.ts';
import { formatPath, type Issue, type Path } from './issue.ts';
import { findDiscriminator, getKind, getVariantKind, listMatchingVariants, type SchemaNode } from './schema-node.ts';

/** Validates a value against a schema. Returns the first issue at each path. The result is empty only if the value is valid. */
export function explain(schema: TSchema, value: unknown): readonly Issue[] {
  const issues = new Map<string, Issue>();
  const errors = listErrors(schema, value);
  for (const error of errors) {
    // Errors of the variants of a union are skipped here. `toUnionIssues` reports the errors of the variant that matches best.
    if (error.schemaPath.includes('/anyOf/')) continue;
    for (const issue of toIssues(error, schema, value)) {
      const path = formatPath(issue.path);
      if (!issues.has(path)) issues.set(path, issue);
    }
  }
  const [first] = errors;
  // The list of errors has a limit. Errors of union variants can fill it before the error of the union itself appears.
  if (issues.size === 0 && first !== undefined)
    return [{ path: locate(first.instancePath, value).path, message: 'is invalid, or an item after it is' }];
  return [...issues.values()];
}

/** Raises the limit of eight errors in the global settings of TypeBox, and restores the settings afterward. */
function listErrors(schema: TSchema, value: unknown): readonly TLocalizedValidationError[] {
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: 10_000 });
  try {
    return Errors(schema, value);
  } finally {
    Settings.Set({ maxErrors });
  }
}

function toIssues(error: TLocalizedValidationError, schema: TSchema, value: unknown): readonly Issue[] {
  const node = resolvePointer(schema, error.schemaPath) as SchemaNode;
  const { path, actual } = locate(error.instancePath, value);
  const at = (key: string) => [...path, key];
  switch (error.keyword) {
    case 'required':
      return error.params.requiredProperties.map((key) => ({ path: at(key), message: 'is missing' }));
    case 'additionalProperties':
      // If the schema has a schema for unknown keys, the errors of their values are reported separately.
      return node.additionalProperties === false
        ? error.params.additionalProperties.map((key) => createUnknownKeyIssue(at(key), node))
        : [];
    case 'boolean':
      return [];
    case 'anyOf':
      return toUnionIssues(node.anyOf ?? [], { path, actual });
    case 'enum':
      return [createEnumIssue(path, error.params.allowedValues, actual)];
    default:
      return [{ path, message: formatError(error, { actual, node }) }];
  }
}

const liteLlmHint = 'convert a LiteLLM configuration with parley import litellm FILE';

function createUnknownKeyIssue(path: Path, node: SchemaNode): Issue {
  if (path.length === 1 && path[0] === 'model_list') return { path, message: 'is not a known key', hint: liteLlmHint };
  return { path, message: 'is not a known key', ...didYouMean(String(path.at(-1)), Object.keys(node.properties ?? {})) };
}

function createEnumIssue(path: Path, allowed: readonly unknown[], actual: unknown): Issue {
  const options = allowed.map(String);
  return {
    path,
    message: `must be one of ${options.join(', ')}`,
    ...(typeof actual === 'string' && didYouMean(actual, options)),
  };
}

/**
 * Explains a value that matches no variant of a union. If only one variant is a candidate, returns its errors. Otherwise,
 * returns an error with the allowed values of the discriminator, or with the allowed kinds of value.
 */
function toUnionIssues(variants: readonly SchemaNode[], location: LocatedValue): readonly Issue[] {
  const { path, actual } = location;
  const [variant, ...otherVariants] = listMatchingVariants(variants, actual);
  if (variant !== undefined && otherVariants.length === 0) {
    return explain(variant as TSchema, actual).map((issue) => ({ ...issue, path: [...path, ...issue.path] }));
  }
  const variantsOfKind = variants.filter((candidate) => getVariantKind(candidate) === getKind(actual));
  const discriminator = findDiscriminator(variantsOfKind);
  if (discriminator === undefined) {
    const kinds = [...new Set(variants.map((candidate) => describeKind(getVariantKind(candidate) ?? '')))];
    return [{ path, message: `must be ${kinds.join(' or ')}, but is ${describeKind(getKind(actual))}` }];
  }
  const value = (actual as Readonly<Record<string, unknown>>)[discriminator];
  const options = variantsOfKind.map((candidate) => candidate.properties?.[discriminator]?.const);
  const issue = createEnumIssue([...path, discriminator], options, value);
  return [value === undefined ? { ...issue, message: `is missing and ${issue.message}` } : issue];
}

function formatError(error: TLocalizedValidationError, { actual, node }: { actual: unknown; node: SchemaNode }): string {
  switch (error.keyword) {
    case 'type':
      return formatTypeError(String(error.params.type), actual);
    case 'const':
      return `must be ${JSON.stringify(error.params.allowedValue)}`;
    case 'minLength':
      return error.params.limit === 1 ? 'must not be empty' : `must have at least ${error.params.limit} characters`;
    case 'minItems':
      return error.params.limit === 1 ? 'must have at least one item' : `must have at least ${error.params.limit} items`;
    case 'maxLength':
      return `must have at most ${error.params.limit} characters`;
    case 'maxItems':
      return `must have at most ${error.params.limit} items`;
    case 'maxProperties':
      return `must have at most ${error.params.limit} keys`;
    case 'pattern':
      return node.errorMessage ?? error.message;
    case 'minimum':
      return `must be ${error.params.limit} or more`;
    case 'maximum':
      return `must be ${error.params.limit} or less`;
    default:
      return error.message;
  }
}

function formatTypeError(expected: string, actual: unknown): string {
  const kind = getKind(actual);
  if (kind !== 'number') return `must be ${describeKind(expected)}, but is ${describeKind(kind)}`;
  if (!Number.isFinite(actual)) return 'must be a finite number';
  return expected === 'integer' ? 'must be an integer' : `must be ${describeKind(expected)}, but is a number`;
}

const kindNames = new Map([
  ['null', 'null'],
  ['boolean', 'true or false'],
  ['number', 'a number'],
  ['integer', 'an integer'],
  ['string', 'a string'],
  ['array', 'a list'],
  ['object', 'an object'],
]);

function describeKind(kind: string): string {
  return kindNames.get(kind) ?? 'a value that JSON does not support';
}

interface LocatedValue {
  readonly path: Path;
  readonly actual: unknown;
}

/** Returns the path for a JSON pointer, and the value there. */
function locate(pointer: string, value: unknown): LocatedValue {
  const path: (string | number)[] = [];
  let actual = value;
  for (const segment of parsePointer(pointer)) {
    path.push(Array.isArray(actual) ? Number(segment) : segment);
    actual = (actual as Readonly<Record<string, unknown>>)[segment];
  }
  return { path, actual };
}

function resolvePointer(schema: unknown, pointer: string): unknown {
  return parsePointer(pointer).reduce((node, segment) => (node as Readonly<Record<string, unknown>>)[segment], schema);
}
