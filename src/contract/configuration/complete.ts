import type { TSchema } from 'typebox';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { childOf, formOf, readSchema, type SchemaNode } from './schema-node.ts';

/**
 * A copy of the value with the defaults of the schema put in where keys are absent. What the value gets wrong is left as it is. Objects of the copy have
 * no prototype, so keys such as `__proto__` and `constructor` are keys like any other.
 */
export function complete(schema: TSchema, value: unknown): unknown {
  const node = formOf(readSchema(schema), value);
  if (Array.isArray(value)) return value.map((item, index) => complete(childOf(node, index), item));
  return isJsonObject(value) ? completeObject(node, value) : value;
}

function completeObject(node: SchemaNode, value: JsonObject): JsonObject {
  const copy: JsonObject = Object.create(null);
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) copy[key] = complete(childOf(node, key), member);
  }
  for (const [key, property] of Object.entries(node.properties ?? {})) {
    if (copy[key] === undefined && property.default !== undefined) copy[key] = complete(property, property.default);
  }
  return copy;
}
