import { isJsonObject, type JsonObject, keysOfPointer } from '#base/json/json.ts';

const deepest = 16;

/** Whether null follows a JSON Schema, as far as that can be seen without a validator. `root` is where references are looked up. */
export function takesNull(schema: unknown, root: JsonObject, depth = 0): boolean {
  if (!isJsonObject(schema)) return schema !== false;
  if (depth > deepest) return false;
  const inner = (each: unknown): boolean => takesNull(each, root, depth + 1);
  const { type, nullable, enum: values, const: constant, $ref, not } = schema;
  const { anyOf, oneOf, allOf } = schema;
  if (type !== undefined && nullable !== true && !(Array.isArray(type) ? type : [type]).includes('null')) return false;
  if (Array.isArray(values) && !values.includes(null)) return false;
  if (constant !== undefined && constant !== null) return false;
  if (typeof $ref === 'string' && !inner(find(root, $ref))) return false;
  if (Array.isArray(anyOf) && !anyOf.some(inner)) return false;
  if (Array.isArray(oneOf) && oneOf.filter(inner).length !== 1) return false;
  if (Array.isArray(allOf) && !allOf.every(inner)) return false;
  return not === undefined || !inner(not);
}

/** What a reference within the same schema leads to; false, which nothing follows, if it leads nowhere. */
function find(root: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#')) return false;
  let found: unknown = root;
  for (const key of keysOfPointer(reference)) {
    found = isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : false;
  }
  return found;
}
