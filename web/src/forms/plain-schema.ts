import { isJsonObject, type JsonObject } from '#base/json.ts';
import { keysOfPointer } from '#base/json-pointer.ts';

const deepestReference = 5;

/** A schema without its detours: references into its own document, a lone `allOf`, and “or null” are followed. Never throws. */
export function toPlainSchema(schema: unknown, root: JsonObject, depth = 0): JsonObject {
  if (!isJsonObject(schema)) return {};
  if (depth > deepestReference) return {};
  const { $ref: reference, allOf, ...own } = schema;
  if (typeof reference === 'string') return { ...toPlainSchema(at(root, reference), root, depth + 1), ...own };
  if (Array.isArray(allOf) && allOf.length === 1) return { ...toPlainSchema(allOf[0], root, depth + 1), ...own };
  for (const key of ['anyOf', 'oneOf'] as const) {
    const branches = schema[key];
    if (!Array.isArray(branches)) continue;
    const { [key]: _, ...rest } = schema;
    const others = branches.filter((branch) => !isNull(branch)).map((branch) => toPlainSchema(branch, root, depth + 1));
    if (others.length === 1 && branches.length > 1) return { ...others[0], ...rest };
    return { ...rest, [key]: others };
  }
  if (!Array.isArray(schema.type)) return schema;
  const types = schema.type.filter((type) => type !== 'null');
  return types.length === 1 ? { ...schema, type: types[0] } : schema;
}

function isNull(schema: unknown): boolean {
  return isJsonObject(schema) && schema.type === 'null';
}

/** What a reference such as `#/$defs/Colour` means; undefined if it leads elsewhere. */
function at(root: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  const step = (part: unknown, key: string) => (isJsonObject(part) && Object.hasOwn(part, key) ? part[key] : undefined);
  return keysOfPointer(reference).reduce<unknown>(step, root);
}
