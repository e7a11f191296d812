import { Random } from '../random.ts';
import type { DrawnText } from './texts.ts';

/** 40 characters are enough to show exponential time, 30,000 to show quadratic time. */
export const lengths = [40, 40, 2_000, 30_000];
const listItems = [300, 8_000];
/** Text that `toJson` replaces with deeply nested lists. */
const deepMark = '@deep lists@';
const depths = [200, 5_000, 100_000];
/** Fields that determine the kind of a reply. Other values would only make it another kind. */
const structural: ReadonlySet<unknown> = new Set(['type', 'object', 'jsonrpc', 'protocolVersion', 'supportedVersions', 'role']);

/** Keys and indexes that lead to a text, a list, or an object. */
type Place = readonly (string | number)[];

/** A value with one hostile part. */
interface Spoiled {
  /** Builds the value. Building takes longer than drawing the path. */
  readonly build: () => unknown;
  /** Path and kind of the change, for titles. */
  readonly what: string;
}

/** Makes one part of a value hostile: a text, a very long list, keys, or deep nesting. */
export function spoilOnePlace(value: unknown, hostile: DrawnText, random: Random): Spoiled {
  const paths = [...listPlaces(value)];
  if (paths.length === 0) return { build: () => value, what: '' };
  const path = random.pick(paths);
  const isDeep = random.chance(0.03);
  const seed = random.below(2 ** 32);
  const build = (): unknown =>
    withHostile(value, path, (target) => (isDeep ? deepMark : spoil(target, hostile, new Random(seed))));
  return { build, what: `${path.join('.')}${isDeep ? ' (deep lists)' : ''}` };
}

/** Writes JSON. `JSON.stringify` cannot write deep nesting. */
export function toJson(value: unknown, random: Random): string {
  const text = JSON.stringify(value);
  if (!text.includes(deepMark)) return text;
  const depth = random.pick(depths);
  return text.replace(`"${deepMark}"`, () => '['.repeat(depth) + ']'.repeat(depth));
}

function* listPlaces(value: unknown, path: Place = []): Iterable<Place> {
  if (typeof value === 'string' && !structural.has(path.at(-1))) yield path;
  if (typeof value !== 'object' || value === null) return;
  yield path;
  for (const [key, inner] of Object.entries(value)) yield* listPlaces(inner, [...path, Array.isArray(value) ? Number(key) : key]);
}

function withHostile(value: unknown, [first, ...innerPlace]: Place, spoiled: (target: unknown) => unknown): unknown {
  if (first === undefined) return spoiled(value);
  if (Array.isArray(value)) return value.map((item, index) => (index === first ? withHostile(item, innerPlace, spoiled) : item));
  const object = value as Readonly<Record<string, unknown>>;
  return { ...object, [first]: withHostile(object[first], innerPlace, spoiled) };
}

/** Replaces a text with hostile text, a list with a very long list, and adds hostile keys to an object. */
function spoil(target: unknown, hostile: DrawnText, random: Random): unknown {
  if (typeof target === 'string') return hostile.build(random.pick(lengths));
  if (Array.isArray(target)) {
    const item: unknown = random.chance(0.5) && target.length > 0 ? target[0] : hostile.build(40);
    return Array.from({ length: hostile.limitCount(random.pick(listItems)) }, (_, index) => numbered(item, index));
  }
  const text = hostile.build(random.pick([40, 2_000]));
  return {
    ...(target as object),
    ...Object.fromEntries(
      Array.from({ length: hostile.limitCount(random.pick([1, 300])) }, (_, index) => [`${text}${index}`, text]),
    ),
  };
}

/** Gives items with an index or an ID different values, so that they stay separate, like parallel tool calls. */
function numbered(item: unknown, index: number): unknown {
  if (typeof item !== 'object' || item === null) return item;
  return { ...item, ...('index' in item && { index }), ...('id' in item && { id: `i${index}` }) };
}
