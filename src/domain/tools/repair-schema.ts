import { isJsonObject, type JsonObject } from '#base/json/json.ts';

/** Keywords of JSON Schema whose value is one schema, a list of schemas, or schemas by name. */
export const schemaKeywords: Readonly<Record<'single' | 'list' | 'byName', ReadonlySet<string>>> = {
  single: new Set(['items', 'additionalProperties', 'not', 'contains', 'propertyNames', 'if', 'then', 'else']),
  list: new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']),
  byName: new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions', 'dependencies']),
};

const maxDepth = 64;
const typeNames: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

/**
 * Rewrites a schema of an earlier draft or of OpenAPI 3.0 as JSON Schema 2020-12, which is the only form that some vendors
 * accept. Does not change schemas that are nested deeper than 64 levels.
 */
export function repairSchema(schema: JsonObject, depth = maxDepth): JsonObject {
  if (depth === 0) return schema;
  const repairInner = (value: unknown): unknown => (isJsonObject(value) ? repairSchema(value, depth - 1) : value);
  const entries = Object.entries(repairKeywords(schema)).map(([keyword, value]): [string, unknown] => {
    if (keyword === '$ref' && typeof value === 'string') return [keyword, repairReference(value)];
    if (schemaKeywords.single.has(keyword)) return [keyword, repairInner(value)];
    if (schemaKeywords.list.has(keyword) && Array.isArray(value)) return [keyword, value.map(repairInner)];
    if (!schemaKeywords.byName.has(keyword) || !isJsonObject(value)) return [keyword, value];
    return [keyword, Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, repairInner(inner)]))];
  });
  return Object.fromEntries(entries);
}

/** Rewrites the keywords of one schema, but not its inner schemas and references. */
export function repairKeywords(schema: JsonObject): JsonObject {
  const repaired: Record<string, unknown> = { ...schema };
  repairType(repaired);
  repairNullable(repaired);
  repairBound(repaired, 'minimum', 'exclusiveMinimum');
  repairBound(repaired, 'maximum', 'exclusiveMaximum');
  repairItems(repaired);
  repairDependencies(repaired);
  repairRequired(repaired);
  const { id, definitions, ...keywords } = repaired;
  if (typeof id === 'string') Object.assign(keywords, id.startsWith('#') ? { $anchor: id.slice(1) } : { $id: id });
  if (isJsonObject(definitions)) keywords.$defs = { ...definitions, ...(isJsonObject(keywords.$defs) && keywords.$defs) };
  return keywords;
}

/** Replaces `definitions` with `$defs` in a pointer, except where it is the name of a property. */
function repairReference(reference: string): string {
  if (!reference.startsWith('#/')) return reference;
  let isName = false;
  const segments = reference.split('/').map((segment) => {
    const isKeyword = !isName;
    isName = isKeyword && schemaKeywords.byName.has(segment);
    return isKeyword && segment === 'definitions' ? '$defs' : segment;
  });
  return segments.join('/');
}

function repairType(schema: Record<string, unknown>): void {
  if (schema.type === undefined) return;
  const names = [schema.type].flat().map((name) => (typeof name === 'string' ? name.toLowerCase() : name));
  const types = [...new Set(names)].filter((name) => typeNames.has(name));
  if (types.length === 0) delete schema.type;
  else schema.type = types.length === 1 ? types[0] : types;
}

/** Applies to schemas of OpenAPI 3.0. */
function repairNullable(schema: Record<string, unknown>): void {
  const { nullable, type, anyOf, oneOf, $ref } = schema;
  if (typeof nullable !== 'boolean') return;
  delete schema.nullable;
  if (!nullable) return;
  const nullSchema = { type: 'null' };
  if (type !== undefined) schema.type = [...new Set([type, 'null'].flat())];
  else if (Array.isArray(anyOf)) schema.anyOf = [...anyOf, nullSchema];
  else if (Array.isArray(oneOf)) schema.oneOf = [...oneOf, nullSchema];
  else if ($ref !== undefined) {
    delete schema.$ref;
    schema.anyOf = [{ $ref }, nullSchema];
  }
  if (Array.isArray(schema.enum) && !schema.enum.includes(null)) schema.enum = [...schema.enum, null];
}

/** Applies to draft 4, in which a boolean next to the bound makes it exclusive. */
function repairBound(schema: Record<string, unknown>, bound: string, exclusive: string): void {
  const isExclusive = schema[exclusive];
  if (typeof isExclusive !== 'boolean') return;
  delete schema[exclusive];
  if (!isExclusive || typeof schema[bound] !== 'number') return;
  schema[exclusive] = schema[bound];
  delete schema[bound];
}

/** Applies to drafts before 2020-12: `items` may be a list, and `additionalItems` describes further items. */
function repairItems(schema: Record<string, unknown>): void {
  const { items, additionalItems } = schema;
  delete schema.additionalItems;
  if (!Array.isArray(items)) return;
  delete schema.items;
  schema.prefixItems = items;
  if (additionalItems !== undefined) schema.items = additionalItems;
}

/** Applies to drafts before 2019-09: one keyword contains both names and schemas. */
function repairDependencies(schema: Record<string, unknown>): void {
  const { dependencies } = schema;
  if (!isJsonObject(dependencies)) return;
  delete schema.dependencies;
  const entries = Object.entries(dependencies);
  const names = entries.filter(([, value]) => Array.isArray(value));
  const schemas = entries.filter(([, value]) => !Array.isArray(value));
  if (names.length > 0) schema.dependentRequired = Object.fromEntries(names);
  if (schemas.length > 0) schema.dependentSchemas = Object.fromEntries(schemas);
}

/** Applies to draft 3: the schema of a property contains a boolean. */
function repairRequired(schema: Record<string, unknown>): void {
  if (typeof schema.required === 'boolean') delete schema.required;
  const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  const names = properties.filter(([, property]) => isJsonObject(property) && property.required === true).map(([name]) => name);
  if (names.length === 0) return;
  const listed = Array.isArray(schema.required) ? schema.required : [];
  schema.required = [...new Set([...listed, ...names])];
}
