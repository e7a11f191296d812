import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { repairKeywords, schemaKeywords } from '#domain/tools/repair-schema.ts';
import { objectOf, objectsOf, shorten, textOf } from './loose.ts';

const maxDepth = 8;
const maxNodes = 2000;
const longestDescription = 500;

const dropped = new Set(['example', 'examples', 'xml', 'externalDocs', 'discriminator', 'deprecated', 'readOnly', 'writeOnly']);

/**
 * Copies schemas of a dereferenced document as a model may see them: finite, without what callers cannot send and what says
 * nothing. One for an operation, since it bounds them together: beyond the bound, and where a schema holds itself, is `{}`.
 */
export class InputSchemas {
  #nodesLeft = maxNodes;
  readonly #open = new Set<unknown>();

  copy(schema: unknown, depth = maxDepth): JsonObject {
    if (!isJsonObject(schema) || depth === 0 || this.#open.has(schema) || '$ref' in schema) return {};
    this.#open.add(schema);
    const copied = Object.entries(repairKeywords(schema)).filter(
      ([keyword]) => !dropped.has(keyword) && !/^(x-|\$)/.test(keyword),
    );
    const entries = copied.map(([keyword, value]) => [keyword, this.#copyKeyword(keyword, value, depth - 1)] as const);
    this.#open.delete(schema);
    return withoutDroppedNames(Object.fromEntries(entries.filter(([, value]) => value !== undefined)));
  }

  #copyKeyword(keyword: string, value: unknown, depth: number): unknown {
    this.#nodesLeft -= 1;
    if (this.#nodesLeft < 0) return undefined;
    if (keyword === 'description') return shorten(textOf(value) ?? '', longestDescription);
    if (schemaKeywords.list.has(keyword)) return objectsOf(value).map((schema) => this.copy(schema, depth));
    if (schemaKeywords.named.has(keyword)) return this.#copyNamed(objectOf(value), depth);
    if (schemaKeywords.single.has(keyword)) return typeof value === 'boolean' ? value : this.copy(value, depth);
    return this.#copyPlain(value, depth);
  }

  #copyNamed(schemas: JsonObject, depth: number): JsonObject {
    const sendable = Object.entries(schemas).filter(([, schema]) => objectOf(schema).readOnly !== true);
    return Object.fromEntries(sendable.map(([name, schema]) => [name, this.copy(schema, depth)]));
  }

  #copyPlain(value: unknown, depth: number): unknown {
    if (typeof value !== 'object' || value === null) return value;
    this.#nodesLeft -= 1;
    if (depth <= 0 || this.#nodesLeft < 0) return undefined;
    if (Array.isArray(value)) return value.map((item) => this.#copyPlain(item, depth - 1) ?? null);
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#copyPlain(item, depth - 1)]));
  }
}

/** A `required` names only what is there; one that is left empty says nothing. */
function withoutDroppedNames(schema: JsonObject): JsonObject {
  const { required, ...rest } = schema;
  if (!Array.isArray(required)) return rest;
  const properties = isJsonObject(schema.properties) ? schema.properties : undefined;
  const names = required.filter((name) => properties === undefined || Object.hasOwn(properties, String(name)));
  return names.length === 0 ? rest : { ...rest, required: names };
}

/** Objects that `allOf` puts together, as one object if each part is one. */
export function mergeAllOf(schema: JsonObject, depth = maxDepth): JsonObject {
  const parts = objectsOf(schema.allOf);
  if (parts.length === 0 || depth === 0) return schema;
  const merged = parts.map((part) => mergeAllOf(part, depth - 1));
  if (!merged.every(({ properties }) => isJsonObject(properties))) return schema;
  const { allOf: _allOf, ...own } = schema;
  const all = [...merged, own];
  return {
    ...own,
    type: 'object',
    properties: Object.assign({}, ...all.map(({ properties }) => objectOf(properties))),
    required: all.flatMap(({ required }) => (Array.isArray(required) ? required : [])),
  };
}
