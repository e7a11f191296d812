import { isJsonObject } from '#base/json/json.ts';
import type { RestTarget } from '#domain/tools/rest-tool.ts';

type Pair = readonly [key: string, text: string];

/** A value with where it goes. */
export interface Placed extends RestTarget {
  readonly value: unknown;
}

const separators = { form: ',', spaceDelimited: ' ', pipeDelimited: '|' };
const maxDepth = 16;

/** The pairs of a query or a form that a value makes (OpenAPI 3.1, style values). Null makes none. */
export function toPairs({ key, value, style, explode = style === 'form' }: Placed): Pair[] {
  if (style === 'deepObject') return toNested(key, value, maxDepth);
  if (style === undefined || explode || typeof value !== 'object') return toExploded(key, value, style !== undefined);
  const texts = itemsOf(Array.isArray(value) ? value : Object.entries(value ?? {}).flat()).map(toText);
  return texts.length === 0 ? [] : [[key, texts.join(separators[style])]];
}

/** The items of a list, or the value itself; null is none. */
export function itemsOf(value: unknown): unknown[] {
  return (Array.isArray(value) ? value : [value]).filter((item) => item !== null);
}

/** As it stands in an address or a header. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) && value.every((item) => typeof item !== 'object') ? value.join(',') : JSON.stringify(value);
}

/** Lists repeat the key; objects are pairs of their own where they have a style. */
function toExploded(key: string, value: unknown, isStyled: boolean): Pair[] {
  if (isStyled && isJsonObject(value)) return Object.entries(value).flatMap(([name, item]) => toExploded(name, item, false));
  return itemsOf(value).map((item) => [key, toText(item)]);
}

/** `key[name][0]=…`: OpenAPI says it of flat objects, and servers take the rest in the same way. */
function toNested(key: string, value: unknown, depth: number): Pair[] {
  if (value === null) return [];
  if (typeof value !== 'object' || depth === 0) return [[key, toText(value)]];
  return Object.entries(value as object).flatMap(([name, item]) => toNested(`${key}[${name}]`, item, depth - 1));
}
