import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { findText } from '#base/text/find-text.ts';

/** Path of an attribute, such as `name.familyName`. Names ignore case. */
export interface ScimPath {
  /** URN of the schema extension that contains the attribute. */
  readonly extension?: string;
  readonly attribute: string;
  readonly sub?: string;
}

export type ScimComparison = 'eq' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le';

/** A filter (RFC 7644, 3.4.2.2). `has` selects a resource with an item that a filter selects, such as `emails[type eq "work"]`. */
export type ScimFilter =
  | { readonly op: 'and' | 'or'; readonly filters: readonly ScimFilter[] }
  | { readonly op: 'not'; readonly filter: ScimFilter }
  | { readonly op: 'has'; readonly path: ScimPath; readonly filter: ScimFilter }
  | { readonly op: 'pr'; readonly path: ScimPath }
  | { readonly op: ScimComparison; readonly path: ScimPath; readonly value: string | number | boolean };

/** Returns whether a filter selects a resource, or an item of an attribute. */
export function matchesFilter(filter: ScimFilter, resource: JsonObject): boolean {
  switch (filter.op) {
    case 'and':
      return filter.filters.every((inner) => matchesFilter(inner, resource));
    case 'or':
      return filter.filters.some((inner) => matchesFilter(inner, resource));
    case 'not':
      return !matchesFilter(filter.filter, resource);
    case 'has':
      return listValues(resource, filter.path).some((item) => isJsonObject(item) && matchesFilter(filter.filter, item));
    case 'pr':
      return listValues(resource, filter.path).some(isPresent);
    default: {
      const { op, path, value } = filter;
      const isExact = isExactPath(path);
      const values = listValues(resource, path).map((item) => (isJsonObject(item) ? getMember(item, 'value') : item));
      return values.some((actual) => compare(op, actual, value, isExact));
    }
  }
}

/** Returns the values of an attribute. An attribute without a value has none. */
function listValues(resource: JsonObject, { extension, attribute, sub }: ScimPath): readonly unknown[] {
  const container = extension === undefined ? resource : getMember(resource, extension);
  const items = isJsonObject(container) ? toList(getMember(container, attribute)) : [];
  return sub === undefined ? items : items.flatMap((item) => (isJsonObject(item) ? toList(getMember(item, sub)) : []));
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

function isPresent(value: unknown): boolean {
  return isJsonObject(value) ? Object.keys(value).length > 0 : value !== '' && value !== null;
}

/** Returns whether the values of an attribute are compared case-sensitively. */
function isExactPath({ extension, attribute, sub }: ScimPath): boolean {
  return extension === undefined && sub === undefined && ['id', 'externalid'].includes(attribute.toLowerCase());
}

function compare(op: ScimComparison, actual: unknown, expected: string | number | boolean, isExact: boolean): boolean {
  if (typeof actual === 'boolean') return op === 'eq' && String(actual) === String(expected).toLowerCase();
  if (typeof actual === 'number' && typeof expected === 'number') return compareOrdered(op, actual, expected);
  if (typeof actual !== 'string' || typeof expected !== 'string') return false;
  const [actualMs, expectedMs] = [parseScimTime(actual), parseScimTime(expected)];
  if (actualMs !== undefined && expectedMs !== undefined) return compareOrdered(op, actualMs, expectedMs);
  const [left, right] = isExact ? [actual, expected] : [actual.toLowerCase(), expected.toLowerCase()];
  if (op === 'co') return findText(left, right) !== -1;
  if (op === 'sw') return left.startsWith(right);
  if (op === 'ew') return left.endsWith(right);
  return compareOrdered(op, left, right);
}

function compareOrdered<Value extends number | string>(op: ScimComparison, left: Value, right: Value): boolean {
  if (op === 'eq') return left === right;
  if (op === 'gt') return left > right;
  if (op === 'ge') return left >= right;
  if (op === 'lt') return left < right;
  return op === 'le' && left <= right;
}

/** Returns a time in milliseconds since the epoch, or undefined for a text that is not a time of ISO 8601. */
export function parseScimTime(text: string): number | undefined {
  if (text.length > 40 || !/^\d{4}-\d{2}-\d{2}T/.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Returns the name of an attribute as the resource spells it. */
export function findName(container: JsonObject, attribute: string): string {
  const folded = attribute.toLowerCase();
  return Object.keys(container).find((name) => name.toLowerCase() === folded) ?? attribute;
}

/** Returns a member whose name ignores case. */
export function getMember(container: JsonObject, attribute: string): unknown {
  const name = findName(container, attribute);
  return Object.hasOwn(container, name) ? container[name] : undefined;
}
