import { hasDefault, isJsonObject, type JsonObject } from '#base/json/json.ts';

interface WrittenSchemaOptions {
  /** Whether `${NAME}` is valid for any scalar, because it is replaced before the check. */
  readonly acceptsReferences: boolean;
}

const reference = { type: 'string', pattern: '^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$' };

/** Returns the JSON Schema of an incomplete value, for editors and forms: keys with a default are optional. */
export function toWrittenSchema(schema: unknown, options: WrittenSchemaOptions): unknown {
  if (Array.isArray(schema)) return schema.map((part) => toWrittenSchema(part, options));
  if (!isJsonObject(schema)) return schema;
  // A reference can replace a text or a part of it, so patterns apply only after substitution.
  const { required, properties, pattern: _pattern, errorMessage: _errorMessage, isPublic: _isPublic, ...otherKeywords } = schema;
  const result: JsonObject = {};
  for (const key of ['items', 'additionalProperties', 'anyOf'])
    if (key in otherKeywords) result[key] = toWrittenSchema(otherKeywords[key], options);
  if (isJsonObject(properties)) {
    const needed = Array.isArray(required) ? required.filter((key) => !hasDefault(properties[key])) : [];
    result.properties = Object.fromEntries(
      Object.entries(properties).map(([key, property]) => [key, toWrittenSchema(property, options)]),
    );
    if (needed.length > 0) result.required = needed;
  }
  return options.acceptsReferences && isReplaceable(schema) ? orReference(otherKeywords) : { ...otherKeywords, ...result };
}

/** Returns whether a value that is not free text can be replaced by a reference. */
function isReplaceable({ type, enum: values }: JsonObject): boolean {
  return values !== undefined || type === 'number' || type === 'integer' || type === 'boolean';
}

function orReference({ description, default: byDefault, ...form }: JsonObject): JsonObject {
  return {
    anyOf: [form, reference],
    ...(description === undefined ? {} : { description }),
    ...(byDefault === undefined ? {} : { default: byDefault }),
  };
}
