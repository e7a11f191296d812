import { isJsonObject, type JsonObject } from '#base/json/json.ts';

/** The object without the named keys whose value is null, which stands for absence; the same object if there are none. */
export function withoutNulls(value: JsonObject, keys: ReadonlySet<string>): JsonObject {
  let result = value;
  for (const key in value) {
    if (value[key] !== null || !keys.has(key)) continue;
    if (result === value) result = { ...value };
    delete result[key];
  }
  return result;
}

/** The same for any value; what is no object stays as it is. */
export function cleaned(value: unknown, keys: ReadonlySet<string>): unknown {
  return isJsonObject(value) ? withoutNulls(value, keys) : value;
}

/** The value with one of its fields mapped; the same value if nothing changes. */
export function mapField(value: unknown, key: string, map: (field: unknown) => unknown): unknown {
  if (!isJsonObject(value) || value[key] === undefined) return value;
  const field = map(value[key]);
  return field === value[key] ? value : { ...value, [key]: field };
}

/** The list with each item mapped; the same list if nothing changes, and the value itself if it is no list. */
export function mapItems(value: unknown, map: (item: unknown) => unknown): unknown {
  if (!Array.isArray(value)) return value;
  const items = value.map(map);
  return items.some((item, index) => item !== value[index]) ? items : value;
}

/**
 * The request without a list of tools that has nothing in it, and without what then says nothing: how tools that nobody
 * offers may be called. `names` are the list, the choice among its items, and what else goes with it.
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

/** Whether a choice forces no call. */
function isIdle(choice: unknown): boolean {
  const type = isJsonObject(choice) ? choice.type : choice;
  return type === undefined || type === 'auto' || type === 'none';
}
