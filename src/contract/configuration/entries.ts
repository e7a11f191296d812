import { isJsonObject, type JsonObject, toObject } from '#base/json/json.ts';

/** Returns a section of a configuration, or an empty object if the section is not an object. */
export function getSection(configuration: unknown, section: string): JsonObject {
  return toObject(toObject(configuration)[section]);
}

/** Returns the entries of a section that are objects. The schema rejects other values. */
export function listEntries(configuration: unknown, section: string): readonly (readonly [name: string, entry: JsonObject])[] {
  return Object.entries(getSection(configuration, section)).filter((entry): entry is [string, JsonObject] =>
    isJsonObject(entry[1]),
  );
}

/** Returns the objects of a list with their indexes, or an empty list if the value is not a list. */
export function listObjects(value: unknown): readonly (readonly [index: number, item: JsonObject])[] {
  return Array.isArray(value) ? [...value.entries()].filter((item): item is [number, JsonObject] => isJsonObject(item[1])) : [];
}
