import { isJsonObject, type JsonObject, tryParseJson } from '#base/json.ts';
import { itemName } from './item-name.ts';
import { toShape, variantOf } from './shape.ts';

// Pattern bound: the path of a field in an error.
const step = /\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([A-Za-z_$][\w$-]*)/g;

/** A place of an application as it is written, and how its parts are called. */
interface Place {
  readonly schema: JsonObject;
  readonly value: unknown;
  /** The title of a property as people read it. */
  readonly toTitle: (schema: JsonObject, name: string) => string;
}

/** The way to a field in words: its label behind the lists and items it is in, such as `MCP servers › Board › Address`. */
export function fieldTrail(field: string, place: Place): string {
  const keys = [...field.matchAll(step)].map(([, index, quoted, plain]) =>
    index === undefined ? (plain ?? String(tryParseJson(quoted ?? ''))) : Number(index),
  );
  return trailOf(keys, place).join(' › ');
}

function trailOf(keys: readonly (string | number)[], { schema, value, toTitle }: Place): readonly string[] {
  const [key, ...rest] = keys;
  if (key === undefined) return [];
  const shape = toShape(schema);
  if (shape.kind === 'variants') {
    const variant = variantOf(shape.variants, value);
    return variant === undefined ? [keys.join('.')] : trailOf(keys, { schema: variant.schema, value, toTitle });
  }
  if (shape.kind === 'list' && typeof key === 'number') {
    const item: unknown = Array.isArray(value) ? value[key] : undefined;
    return [itemName(item) || String(key + 1), ...trailOf(rest, { schema: shape.item, value: item, toTitle })];
  }
  const property = shape.kind === 'group' ? shape.properties.find(({ name }) => name === key) : undefined;
  if (property === undefined) return [keys.join('.')];
  const below = trailOf(rest, { schema: property.schema, value: isJsonObject(value) ? value[key] : undefined, toTitle });
  // What only frames other fields is no part of the way.
  return toShape(property.schema).kind === 'group' && below.length > 0
    ? below
    : [toTitle(property.schema, String(key)), ...below];
}
