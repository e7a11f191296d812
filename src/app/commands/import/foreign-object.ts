import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { didYouMean, findNearest } from '#contract/configuration/did-you-mean.ts';
import type { Path } from '#contract/configuration/issue.ts';
import type { Notes } from './result.ts';

/** Reasons for not importing keys, by key. Null if the key needs no replacement. */
export type DropReasons = Readonly<Record<string, string | null>>;

/** Options for reading the configuration of a gateway. */
export interface ReadOptions {
  readonly notes: Notes;
  /** Whether the keys of the configuration use snake case. */
  readonly usesSnakeCase: boolean;
}

/** Object from another gateway's configuration. It records which keys are read, so that `reportUnread` can report the rest. */
export class ForeignObject {
  readonly path: Path;
  readonly #value: JsonObject;
  readonly #options: ReadOptions;
  readonly #readKeys = new Set<string>();

  constructor(value: JsonObject, path: Path, options: ReadOptions) {
    this.#value = value;
    this.path = path;
    this.#options = options;
  }

  /** Returns the value of a key in either spelling. Returns undefined if the value is null. */
  value(key: string): unknown {
    this.#readKeys.add(key);
    const actualKey = this.#getSpelling(key);
    this.#readKeys.add(actualKey);
    return (Object.hasOwn(this.#value, actualKey) ? this.#value[actualKey] : undefined) ?? undefined;
  }

  /** Returns the path of a key in its actual spelling. */
  at(key: string): Path {
    return [...this.path, this.#getSpelling(key)];
  }

  text(key: string): string | undefined {
    const value = this.value(key);
    if (typeof value === 'number') return String(value);
    return this.#requireType(key, value, typeof value === 'string') as string | undefined;
  }

  /** Returns a number, even if it is written as text. */
  number(key: string): number | undefined {
    const value = this.value(key);
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    const isNumber = typeof number === 'number' && !Number.isNaN(number);
    return this.#requireType(key, number, isNumber, 'a number') as number | undefined;
  }

  /** Returns the numbers under these keys, by key. */
  numbers(keys: readonly string[]): Readonly<Record<string, number>> {
    return withoutUndefined(Object.fromEntries(keys.map((key) => [key, this.number(key)])));
  }

  flag(key: string): boolean {
    const value = this.value(key);
    return this.#requireType(key, value, typeof value === 'boolean', 'true or false') === true;
  }

  texts(key: string): readonly string[] | undefined {
    const value = this.value(key);
    const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
    return this.#requireType(key, value, isList, 'a list of strings') as readonly string[] | undefined;
  }

  object(key: string): ForeignObject | undefined {
    const value = this.value(key);
    const object = this.#requireType(key, value, isJsonObject(value), 'an object') as JsonObject | undefined;
    return object && new ForeignObject(object, this.at(key), this.#options);
  }

  /** Returns the entries of an object, by name. */
  namedObjects(key: string): readonly (readonly [name: string, entry: ForeignObject])[] {
    const holder = this.object(key);
    return holder === undefined
      ? []
      : holder.keys().flatMap((name) => {
          const entry = holder.object(name);
          return entry === undefined ? [] : [[name, entry] as const];
        });
  }

  /** Returns the objects of a list. */
  items(key: string): readonly ForeignObject[] {
    const value = this.value(key);
    const list = this.#requireType(key, value, Array.isArray(value), 'a list') as readonly unknown[] | undefined;
    return (list ?? []).flatMap((item, index) => {
      const path = [...this.at(key), index];
      if (isJsonObject(item)) return [new ForeignObject(item, path, this.#options)];
      this.#options.notes.addLoss(path, 'is left out: it must be an object');
      return [];
    });
  }

  keys(): readonly string[] {
    return Object.keys(this.#value).filter((key) => this.#value[key] !== null);
  }

  /** Returns a hint if another key is probably a misspelling of a missing key. */
  suggestKey(key: string): string | undefined {
    const actualKey = findNearest(key, this.keys());
    const suggestedKey = this.#options.usesSnakeCase ? toSnake(key) : key;
    return actualKey === undefined || this.value(key) !== undefined ? undefined : `did you mean ${suggestedKey} by ${actualKey}?`;
  }

  /**
   * Reports each key that was not read, with its reason from `dropReasons` or as unknown. `objectName` is for messages.
   */
  reportUnread(dropReasons: DropReasons, objectName: string): void {
    const knownKeys = [...this.#readKeys, ...Object.keys(dropReasons)].map((key) =>
      this.#options.usesSnakeCase ? toSnake(key) : key,
    );
    for (const key of this.keys()) {
      if (this.#readKeys.has(key) || isEmpty(this.#value[key])) continue;
      const reason = [key, toCamel(key)]
        .filter((spelling) => Object.hasOwn(dropReasons, spelling))
        .map((spelling) => dropReasons[spelling])[0];
      if (reason === null) continue;
      if (reason !== undefined) this.#options.notes.addLoss([...this.path, key], `is not imported: ${reason}`);
      else {
        const { hint } = didYouMean(key, knownKeys);
        this.#options.notes.addLoss([...this.path, key], `is not imported: it is not a known key of ${objectName}`, hint);
      }
    }
  }

  #getSpelling(key: string): string {
    if (Object.hasOwn(this.#value, key)) return key;
    const snake = toSnake(key);
    return Object.hasOwn(this.#value, snake) ? snake : key;
  }

  /** Returns the value if it is valid. Otherwise reports it, and returns undefined. */
  #requireType(key: string, value: unknown, isValid: boolean, kind = 'a string'): unknown {
    if (value === undefined || isValid) return value;
    this.#options.notes.addLoss(this.at(key), `is left out: it must be ${kind}`);
    return undefined;
  }
}

/** Returns the members of an object that have a value. */
export function withoutUndefined<Value>(object: Readonly<Record<string, Value | undefined>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(object).filter((member): member is [string, Value] => member[1] !== undefined));
}

/** Returns the value at a path, or undefined if it does not exist. */
export function getValueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((current, key) => (isJsonObject(current) ? current[key] : undefined), value);
}

/** Returns whether a value can be dropped without loss. */
function isEmpty(value: unknown): boolean {
  return value === false || value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}

function toSnake(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function toCamel(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
