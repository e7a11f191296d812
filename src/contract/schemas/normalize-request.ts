import { isJsonObject, type JsonObject } from '#base/json/json.ts';

/**
 * Returns an object without the given keys whose value is null, because null means absence. Returns the same value if there are
 * none, or if the value is not an object.
 */
export function withoutNulls<Value>(value: Value, keys: ReadonlySet<string>): Value {
  if (!isJsonObject(value)) return value;
  let result: Value & JsonObject = value;
  for (const key in value) {
    if (value[key] !== null || !keys.has(key)) continue;
    if (result === value) result = { ...value };
    delete (result as JsonObject)[key];
  }
  return result;
}

/** Maps one field of an object. Returns the same value if nothing changes. */
export function mapField(value: unknown, key: string, map: (field: unknown) => unknown): unknown {
  if (!isJsonObject(value) || value[key] === undefined) return value;
  const field = map(value[key]);
  return field === value[key] ? value : { ...value, [key]: field };
}

/** Maps each item of a list. Returns the same value if nothing changes or if it is not a list. */
export function mapItems(value: unknown, map: (item: unknown, index: number) => unknown): unknown {
  if (!Array.isArray(value)) return value;
  const items = value.map(map);
  return items.some((item, index) => item !== value[index]) ? items : value;
}

/**
 * Removes an empty list of tools from a request. Also removes the fields that depend on the list, unless the tool choice forces a
 * call. The field names are, in order, the list, the tool choice, and other dependent fields.
 */
export function withoutEmptyTools(
  request: JsonObject,
  [list, choice, ...remaining]: readonly [string, string, ...string[]],
): JsonObject {
  const tools = request[list];
  if (!Array.isArray(tools) || tools.length > 0) return request;
  const result = { ...request };
  delete result[list];
  if (forcesCall(result[choice])) return result;
  for (const key of [choice, ...remaining]) delete result[key];
  return result;
}

/** Returns whether a tool choice forces a call. */
function forcesCall(choice: unknown): boolean {
  const type = isJsonObject(choice) ? choice.type : choice;
  return type !== undefined && type !== 'auto' && type !== 'none';
}
