import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { Path } from './issue.ts';
import { getChild, getForm, type SchemaNode } from './schema-node.ts';

/** Placeholder for a hidden secret. In a request, it refers to the stored secret. */
export const hiddenSecret = '***';

/** Returns the value for a secret. If undefined, the field is removed. */
export type ReplaceSecret = (secret: unknown, path: Path) => unknown;

/** Returns a copy of a value with replaced `writeOnly` fields. */
export function replaceSecrets(schema: SchemaNode, value: unknown, replace: ReplaceSecret, path: Path = []): unknown {
  const node = getForm(schema, value);
  if (schema.writeOnly === true || node.writeOnly === true) return replace(value, path);
  if (Array.isArray(value))
    return value.map((item, index) => replaceSecrets(getChild(node, index), item, replace, [...path, index]));
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = Object.create(null);
  for (const [key, member] of Object.entries(value))
    copy[key] = replaceSecrets(getChild(node, key), member, replace, [...path, key]);
  return copy;
}
