import type { TSchema } from 'typebox';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { mapItems } from '../schemas/without-nulls.ts';
import { childOf, formOf, readSchema, type SchemaNode } from './schema-node.ts';

/** The value without optional fields of the schema that are null, unless null is one of their values; the same value if there are none. */
export function withoutNullFields(schema: TSchema, value: unknown): unknown {
  return withoutNulls(readSchema(schema), value);
}

function withoutNulls(given: SchemaNode, value: unknown): unknown {
  const node = formOf(given, value);
  if (Array.isArray(value)) {
    const item = childOf(node, 0);
    return mapItems(value, (each) => withoutNulls(item, each));
  }
  return isJsonObject(value) ? ofObject(node, value) : value;
}

function ofObject(node: SchemaNode, value: JsonObject): JsonObject {
  let rest = value;
  for (const [key, member] of Object.entries(value)) {
    const isAbsent = member === null && isOptional(node, key);
    const kept = isAbsent ? undefined : withoutNulls(childOf(node, key), member);
    if (kept === member) continue;
    if (rest === value) rest = { ...value };
    if (isAbsent) delete rest[key];
    else rest[key] = kept;
  }
  return rest;
}

/** One with a default may be left out too. */
function isOptional({ properties = {}, required = [] }: SchemaNode, key: string): boolean {
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (property === undefined || takesNull(property)) return false;
  return !required.includes(key) || property.default !== undefined;
}

function takesNull({ type, anyOf, enum: words, const: only }: SchemaNode): boolean {
  if (anyOf !== undefined) return anyOf.some(takesNull);
  return type === 'null' || (type === undefined && words === undefined && only === undefined);
}
