import { isJsonObject, type JsonObject } from '#base/json/json.ts';

/**
 * Returns the object without the given keys whose value is null, because null means absence. Returns the same object if there are
 * none.
 */
export function withoutNulls(value: JsonObject, keys: ReadonlySet<string>): JsonObject {
  let result = value;
  for (const key in value) {
    if (value[key] !== null || !keys.has(key)) continue;
    if (result === value) result = { ...value };
    delete result[key];
  }
  return result;
}

/** Removes null fields like `withoutNulls`, but returns values that are not objects unchanged. */
export function cleaned(value: unknown, keys: ReadonlySet<string>): unknown {
  return isJsonObject(value) ? withoutNulls(value, keys) : value;
}

/** Maps one field of an object. Returns the same value if nothing changes. */
export function mapField(value: unknown, key: string, map: (field: unknown) => unknown): unknown {
  if (!isJsonObject(value) || value[key] === undefined) return value;
  const field = map(value[key]);
  return field === value[key] ? value : { ...value, [key]: field };
}

/** Maps each item of a list. Returns the same value if nothing changes or if it is not a list. */
export function mapItems(value: unknown, map: (item: unknown) => unknown): unknown {
  if (!Array.isArray(value)) return value;
  const items = value.map(map);
  return items.some((item, index) => item !== value[index]) ? items : value;
}

/**
 * Removes an empty list of tools from a request, and the fields that depend on it, unless the tool choice forces a call. The
 * field names are, in order, the list, the tool choice, and other dependent fields.
 */
export function withoutEmptyList(
  request: JsonObject,
  [list, choice, ...remaining]: readonly [string, string, ...string[]],
): JsonObject {
  const tools = request[list];
  if (!Array.isArray(tools) || tools.length > 0) return request;
  const result = { ...request };
  delete result[list];
  if (!isIdle(result[choice])) return result;
  for (const key of [choice, ...remaining]) delete result[key];
  return result;
}

/** Returns whether a tool choice forces no call. */
function isIdle(choice: unknown): boolean {
  const type = isJsonObject(choice) ? choice.type : choice;
  return type === undefined || type === 'auto' || type === 'none';
}
