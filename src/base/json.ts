import { jsonFaultAt } from './json-fault-at.ts';
import { stringEnd } from './string-end.ts';

export type JsonObject = { [key: string]: unknown };

/** The text is not JSON, or breaks a bound. The message may be shown. */
export class JsonFault extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'JsonFault';
  }
}

export interface JsonBounds {
  /** How deep arrays and objects may be nested. */
  readonly maxDepth: number;
  /** How many keys, values and items the whole may have. */
  readonly maxNodes: number;
  /** Whether a key may be `__proto__`: for readers that keep such keys. */
  readonly allowsProto?: boolean;
}

export const defaultJsonBounds: JsonBounds = { maxDepth: 64, maxNodes: 500_000 };

/** Not in the types of the language yet: a value that is written as that text. */
const { rawJSON, isRawJSON } = JSON as unknown as { rawJSON(text: string): object; isRawJSON(value: unknown): boolean };

/** Whether a value is a number that JavaScript has none for, kept as it was written. */
export const isWrittenNumber = isRawJSON;

const integer = /^-?\d+$/;

/**
 * Parses text from outside. Keys named `__proto__` are refused: a copy of the value would lose them. Integers beyond 2^53 and
 * numbers beyond 1.8e308 become what is written as they came, and is no number. Throws JsonFault, which tells a place in
 * what `toWhole` gives if the text is only a part.
 */
export function parseJson(text: string, bounds: JsonBounds = defaultJsonBounds, toWhole?: () => string): unknown {
  // As many nodes take as many chars.
  if (text.length > bounds.maxNodes) requireFew(text, bounds);
  const value = parse(text, toWhole);
  return hasUnheld(value, bounds) ? JSON.parse(text, keepUnheld) : value;
}

function parse(text: string, toWhole = () => text): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const { line, column } = jsonFaultAt(toWhole());
    throw new JsonFault(`the text is not JSON from line ${line}, column ${column} on`, cause);
  }
}

function keepUnheld(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined || isHeld(value)) return value;
  return !Number.isFinite(value) || integer.test(source) ? rawJSON(source) : value;
}

/** Whether a number is sure to be the one that was written, as far as its whole part goes. */
function isHeld(value: number): boolean {
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
}

/** Parses text that may be anything; undefined if it is not JSON within the bounds. */
export function tryParseJson(text: string, bounds: JsonBounds = defaultJsonBounds): unknown {
  try {
    return parseJson(text, bounds);
  } catch {
    return undefined;
  }
}

/** A number that is kept as it was written is an object to JavaScript, and none here. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJSON(value);
}

/** Counts in the text what would be made of it: to make it can take thirty times the room of the text. */
function requireFew(text: string, bounds: JsonBounds): void {
  const { maxDepth, maxNodes } = bounds;
  let nodes = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case '"':
        at = stringEnd(text, at + 1);
        break;
      case '{':
      case '[':
        nodes += 1;
        depth += 1;
        break;
      case '}':
      case ']':
        depth -= 1;
        break;
      case ',':
      case ':':
        nodes += 1;
    }
    if (depth > maxDepth) throw tooDeep(bounds);
    if (nodes > maxNodes) throw new JsonFault(`the JSON has more than ${maxNodes} keys and items`);
  }
}

function tooDeep({ maxDepth }: Pick<JsonBounds, 'maxDepth'>): JsonFault {
  return new JsonFault(`the JSON is nested deeper than ${maxDepth} levels`);
}

/** Whether a parsed value has a number that JavaScript has none for. Throws JsonFault if it breaks a bound. */
function hasUnheld(value: unknown, bounds: JsonBounds, depth = 0): boolean {
  if (typeof value === 'number') return !isHeld(value);
  if (typeof value !== 'object' || value === null) return false;
  if (depth === bounds.maxDepth) throw tooDeep(bounds);
  let isFound = false;
  if (Array.isArray(value)) {
    for (const item of value) if (hasUnheld(item, bounds, depth + 1)) isFound = true;
    return isFound;
  }
  for (const key in value) {
    if (key === '__proto__' && bounds.allowsProto !== true) throw new JsonFault('the JSON has a key named __proto__');
    if (hasUnheld((value as JsonObject)[key], bounds, depth + 1)) isFound = true;
  }
  return isFound;
}
