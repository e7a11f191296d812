import { isJsonObject, JsonError, type JsonObject, parseJson, toObject, toText } from '#base/json/json.ts';
import type { Path } from '#contract/configuration/issue.ts';

/**
 * Parses a JSON object, or returns the reason that the text is not one: the message of the browser with the position, or '' for
 * JSON of another type.
 */
export function parseJsonObject(text: string): { readonly value?: JsonObject; readonly problem?: string } {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? { value } : { problem: '' };
  } catch (error) {
    const cause = error instanceof JsonError && error.cause instanceof Error ? error.cause : undefined;
    return { problem: cause?.message ?? (error instanceof Error ? error.message : '') };
  }
}

/** Returns the value at a path, or undefined. */
export function getValueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((part, key) => {
    if (Array.isArray(part)) return part[Number(key)];
    return isJsonObject(part) && Object.hasOwn(part, key) ? part[key] : undefined;
  }, value);
}

/** Returns a copy with another value at a path. Undefined removes the key. */
export function withValueAt(value: unknown, path: Path, next: unknown): unknown {
  const [key, ...innerPath] = path;
  if (key === undefined) return next;
  if (typeof key === 'number') {
    const items: unknown[] = Array.isArray(value) ? [...value] : [];
    items[key] = withValueAt(items[key], innerPath, next);
    return items;
  }
  const before = toObject(value);
  const inner = withValueAt(Object.hasOwn(before, key) ? before[key] : undefined, innerPath, next);
  const entries = Object.entries(before);
  if (inner === undefined) return Object.fromEntries(entries.filter(([entryKey]) => entryKey !== key));
  return Object.fromEntries(
    Object.hasOwn(before, key)
      ? entries.map(([entryKey, old]) => [entryKey, entryKey === key ? inner : old])
      : [...entries, [key, inner]],
  );
}

/** Returns the name of a list item, or of the function that it defines. '' if there is none. */
export function getItemName(item: unknown): string {
  if (!isJsonObject(item)) return '';
  if (typeof item.name === 'string') return item.name;
  const { open_ai_tool: tool } = item;
  return toText(toObject(toObject(tool).function).name);
}
