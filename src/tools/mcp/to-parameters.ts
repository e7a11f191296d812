import { filterObjects, filterStrings, isJsonObject, type JsonObject, toObject, tryParseJson } from '#base/json/json.ts';

const maxChars = 32 * 1024;
const combiningKeywords = ['allOf', 'anyOf', 'oneOf'] as const;

/**
 * Converts a server's schema to a form that models and the page accept: an object with listed properties, bounded in size and
 * depth. An invalid or too large schema becomes an object without declared properties.
 */
export function toParameters(input: unknown): JsonObject {
  const { $schema: _dialect, not: _not, enum: _enum, allOf, anyOf, oneOf, ...schema } = copyBounded(input);
  const parts = combiningKeywords.flatMap((keyword) => filterObjects({ allOf, anyOf, oneOf }[keyword]));
  const required = [...filterStrings(schema.required), ...filterObjects(allOf).flatMap((part) => filterStrings(part.required))];
  const properties = Object.fromEntries([...parts, schema].flatMap((part) => Object.entries(toObject(part.properties))));
  return { ...schema, type: 'object', properties, ...(required.length > 0 && { required: [...new Set(required)] }) };
}

/** Keywords whose values are not masked, because the name of a type, property, or format can match a short secret by chance. */
const unmaskedKeywords: ReadonlySet<string> = new Set(['type', 'required', 'format', '$ref']);

/** Converts a schema as `toParameters` does, and masks the texts that users see. */
export function toMaskedParameters(input: unknown, mask: (text: string) => string): JsonObject {
  return maskValue(toParameters(input), mask) as JsonObject;
}

function maskValue(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((item) => maskValue(item, mask));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, unmaskedKeywords.has(key) ? member : maskValue(member, mask)]),
  );
}

/** Parses the schema again, which rejects deep nesting and keys that a copy would lose. */
function copyBounded(value: unknown): JsonObject {
  const text = tryStringify(value);
  return toObject(text.length <= maxChars ? tryParseJson(text) : undefined);
}

function tryStringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
}
