import { isJsonObject, type JsonObject } from '#base/json/json.ts';

/** A section of a configuration; empty if it is none. */
export function getSection(configuration: unknown, section: string): JsonObject {
  const value = isJsonObject(configuration) ? configuration[section] : undefined;
  return isJsonObject(value) ? value : {};
}

/** The entries of a section that are objects; whatever else stands there is the schema's to refuse. */
export function listEntries(configuration: unknown, section: string): readonly (readonly [name: string, entry: JsonObject])[] {
  return Object.entries(getSection(configuration, section)).filter((entry): entry is [string, JsonObject] =>
    isJsonObject(entry[1]),
  );
}

/** The objects of a list with their indices; empty for what is no list. */
export function listObjects(value: unknown): readonly (readonly [index: number, item: JsonObject])[] {
  return Array.isArray(value) ? [...value.entries()].filter((item): item is [number, JsonObject] => isJsonObject(item[1])) : [];
}
