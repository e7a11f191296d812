import { hasDefault, isJsonObject, type JsonObject } from '#base/json/json.ts';
import { QuickAppForm } from './form.ts';
import { quickAppSuffix } from './schema-id.ts';

/**
 * Returns the JSON Schema of a quick app's settings. It contains titles, descriptions, and positions, and marks secret fields, so
 * that clients can display a form.
 */
export function buildQuickAppJsonSchema(base: string): JsonObject {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `${base}${quickAppSuffix}`,
    title: 'Quick app',
    ...(withTitles(QuickAppForm) as JsonObject),
  };
}

/** Returns the schema with a title and a position for every property. Properties with a default are optional. */
function withTitles(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withTitles);
  if (!isJsonObject(schema)) return schema;
  const copy: JsonObject = { ...schema };
  for (const key of ['items', 'additionalProperties', 'anyOf']) if (key in schema) copy[key] = withTitles(schema[key]);
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return copy;
  copy.properties = Object.fromEntries(
    Object.entries(properties).map(([key, property], index) => {
      const titled = withTitles(property) as JsonObject;
      return [key, { ...titled, title: titled.title ?? toTitle(key), 'x-order': index }];
    }),
  );
  if (Array.isArray(required)) copy.required = required.filter((key) => !hasDefault(properties[key]));
  return copy;
}

/** Returns a property name as a title: `client_secret` becomes "Client secret". */
function toTitle(key: string): string {
  const label = key.replaceAll('_', ' ');
  return label.charAt(0).toUpperCase() + label.slice(1);
}
