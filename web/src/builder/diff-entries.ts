import { isJsonObject } from '#base/json.ts';
import { formatPath, type Path } from '#contract/configuration/fault.ts';
import { itemName } from './item-name.ts';

/** One field that differs, as a text on either side; undefined where the field is not there. */
export interface FieldChange {
  /** Such as `applicationProperties.web_api_toolset[Shop].authorization`. */
  readonly field: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/**
 * What differs between two forms of an application, field by field. Items of a list that have names of their own are told apart
 * by them, others by their place.
 */
export function diffEntries(before: unknown, after: unknown, path: Path = []): readonly FieldChange[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (isJsonObject(before) && isJsonObject(after)) return diffParts(toParts(before), toParts(after), path);
  if (Array.isArray(before) && Array.isArray(after) && [...before, ...after].some(isJsonObject)) {
    const isNamed = hasNames(before) && hasNames(after);
    const toItems = (items: readonly unknown[]): Parts =>
      new Map(items.map((item, nth) => [isNamed ? itemName(item) : nth, item]));
    return diffParts(toItems(before), toItems(after), path);
  }
  return [{ field: formatPath(path), before: toText(before), after: toText(after) }];
}

type Parts = ReadonlyMap<string | number, unknown>;

function toParts(value: object): Parts {
  return new Map(Object.entries(value));
}

function diffParts(before: Parts, after: Parts, path: Path): readonly FieldChange[] {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].flatMap((key) => diffEntries(before.get(key), after.get(key), [...path, key]));
}

function hasNames(items: readonly unknown[]): boolean {
  const names = items.map(itemName);
  return !names.includes('') && new Set(names).size === names.length;
}

/** Texts as they are, lists of texts a line each, anything else as JSON. */
function toText(value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  if (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')) return value.join('\n');
  return JSON.stringify(value, undefined, 2);
}
