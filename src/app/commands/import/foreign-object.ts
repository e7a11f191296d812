import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { didYouMean, findNearest } from '#contract/configuration/did-you-mean.ts';
import type { Path } from '#contract/configuration/issue.ts';
import type { Notes } from './result.ts';

/** Reasons for not importing keys, by key. Null if nothing is lost without the key. */
export type DropReasons = Readonly<Record<string, string | null>>;

/** How the objects of a gateway are read. */
export interface ReadOptions {
  readonly notes: Notes;
  /** Whether its keys use snake case. */
  readonly isSnake: boolean;
}

/** Object from another gateway's configuration. It records which keys are read, so that `reportUnread` can report the rest. */
export class ForeignObject {
  readonly path: Path;
  readonly #value: JsonObject;
  readonly #reading: ReadOptions;
  readonly #readKeys = new Set<string>();

  constructor(value: JsonObject, path: Path, reading: ReadOptions) {
    this.#value = value;
    this.path = path;
    this.#reading = reading;
  }

  /** Returns the value of a key, even if it is written in snake case. Returns undefined if it is null. */
  value(key: string): unknown {
    this.#readKeys.add(key);
    const actualKey = this.#getSpelling(key);
    this.#readKeys.add(actualKey);
    return (Object.hasOwn(this.#value, actualKey) ? this.#value[actualKey] : undefined) ?? undefined;
  }

  /** Returns the path of a key, as it is written. */
  at(key: string): Path {
    return [...this.path, this.#getSpelling(key)];
  }

  text(key: string): string | undefined {
    const value = this.value(key);
    if (typeof value === 'number') return String(value);
    return this.#only(key, value, typeof value === 'string') as string | undefined;
  }

  /** Returns a number, even if it is written as text. */
  number(key: string): number | undefined {
    const value = this.value(key);
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    const isNumber = typeof number === 'number' && !Number.isNaN(number);
    return this.#only(key, number, isNumber, 'a number') as number | undefined;
  }

  /** Returns the numbers of several keys. */
  numbers(keys: readonly string[]): Readonly<Record<string, number>> {
    return withoutUndefined(Object.fromEntries(keys.map((key) => [key, this.number(key)])));
  }

  flag(key: string): boolean {
    const value = this.value(key);
    return this.#only(key, value, typeof value === 'boolean', 'true or false') === true;
  }

  texts(key: string): readonly string[] | undefined {
    const value = this.value(key);
    const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
    return this.#only(key, value, isList, 'a list of strings') as readonly string[] | undefined;
  }

  object(key: string): ForeignObject | undefined {
    const value = this.value(key);
    const object = this.#only(key, value, isJsonObject(value), 'an object') as JsonObject | undefined;
    return object && new ForeignObject(object, this.at(key), this.#reading);
  }

  /** Returns the entries of an object, by name. */
  namedObjects(key: string): readonly (readonly [name: string, entry: ForeignObject])[] {
    const holder = this.object(key);
    return holder === undefined ? [] : holder.keys().flatMap((name) => pair(name, holder.object(name)));
  }

  /** Returns the objects of a list. */
  items(key: string): readonly ForeignObject[] {
    const value = this.value(key);
    const list = this.#only(key, value, Array.isArray(value), 'a list') as readonly unknown[] | undefined;
    return (list ?? []).flatMap((item, index) => {
      const path = [...this.at(key), index];
      if (isJsonObject(item)) return [new ForeignObject(item, path, this.#reading)];
      this.#reading.notes.addLoss(path, 'is left out: it must be an object');
      return [];
    });
  }

  keys(): readonly string[] {
    return Object.keys(this.#value).filter((key) => this.#value[key] !== null);
  }

  /** Returns which existing key probably is a misspelling of a missing one. */
  suggestKey(key: string): string | undefined {
    const actualKey = findNearest(key, this.keys());
    const suggestedKey = this.#reading.isSnake ? toSnake(key) : key;
    return actualKey === undefined || this.value(key) !== undefined ? undefined : `did you mean ${suggestedKey} by ${actualKey}?`;
  }

  /**
   * Reports each key that was not read, with its reason from `dropReasons` or as unknown. `whose` names the object in messages.
   */
  reportUnread(dropReasons: DropReasons, whose: string): void {
    const knownKeys = [...this.#readKeys, ...Object.keys(dropReasons)].map((key) => (this.#reading.isSnake ? toSnake(key) : key));
    for (const key of this.keys()) {
      if (this.#readKeys.has(key) || isEmpty(this.#value[key])) continue;
      const reason = [key, toCamel(key)]
        .filter((spelling) => Object.hasOwn(dropReasons, spelling))
        .map((spelling) => dropReasons[spelling])[0];
      if (reason === null) continue;
      if (reason !== undefined) this.#reading.notes.addLoss([...this.path, key], `is not imported: ${reason}`);
      else {
        const { hint } = didYouMean(key, knownKeys);
        this.#reading.notes.addLoss([...this.path, key], `is not imported: it is not a known key of ${whose}`, hint);
      }
    }
  }

  #getSpelling(key: string): string {
    if (Object.hasOwn(this.#value, key)) return key;
    const snake = toSnake(key);
    return Object.hasOwn(this.#value, snake) ? snake : key;
  }

  #only(key: string, value: unknown, isRight: boolean, kind = 'a string'): unknown {
    if (value === undefined || isRight) return value;
    this.#reading.notes.addLoss(this.at(key), `is left out: it must be ${kind}`);
    return undefined;
  }
}

/** Returns the members of an object that have a value. */
export function withoutUndefined<Value>(object: Readonly<Record<string, Value | undefined>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(object).filter((member): member is [string, Value] => member[1] !== undefined));
}

/** Returns the value at a path, or undefined if it does not exist. */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((current, key) => (isJsonObject(current) ? current[key] : undefined), value);
}

/** Returns whether a value can be dropped without loss. */
function isEmpty(value: unknown): boolean {
  return value === false || value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}

function pair<Value>(name: string, value: Value | undefined): readonly (readonly [string, Value])[] {
  return value === undefined ? [] : [[name, value]];
}

function toSnake(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function toCamel(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
