import { isJsonObject } from '#base/json.ts';
import { childOf, type SchemaNode } from './schema-node.ts';

/** Clients of the family write `display_name` for `displayName`. */
const inSnakeCase = /^[a-z]+(?:_[a-z]+)+$/;

/**
 * The object with known keys of the schema as it writes them, if they came in snake_case; in `features` too. A key that is
 * there in both forms stays as it is, to be refused.
 */
export function withCamelNames(schema: SchemaNode, value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const known = schema.properties ?? {};
  const named = Object.entries(value).map(([key, field]): [string, unknown] => {
    const camel = inSnakeCase.test(key) ? key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : key;
    const name = Object.hasOwn(known, camel) && !Object.hasOwn(value, camel) ? camel : key;
    return [name, name === 'features' ? withCamelNames(childOf(schema, name), field) : field];
  });
  return Object.fromEntries(named);
}
