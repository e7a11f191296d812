import { isJsonObject, type JsonObject } from '#base/json/json.ts';

/** Returns the value if it is an object, otherwise an empty object, because documents are read leniently. */
export function toObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** Returns a scalar value as text for an address or a name, or undefined for other values. */
export function toScalarText(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

export function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}
