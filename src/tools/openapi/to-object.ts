import { isJsonObject, type JsonObject } from '#base/json/json.ts';

/** The value if it is an object, else an empty one: documents are read loosely. */
export function toObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** A value that may stand in an address or a name, as text; undefined for what has no text of its own. */
export function toScalarText(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

export function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}
