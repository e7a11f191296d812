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
  /** How many keys and items the whole value may have. */
  readonly maxNodes: number;
  /** Whether a key may be `__proto__`: for readers that keep such keys. */
  readonly allowsProto?: boolean;
}

export const defaultJsonBounds: JsonBounds = { maxDepth: 64, maxNodes: 1_000_000 };

/** Not in the types of the language yet: a value that is written as that text. */
const { rawJSON, isRawJSON } = JSON as unknown as { rawJSON(text: string): object; isRawJSON(value: unknown): boolean };

/** Whether a value is a number that JavaScript has none for, kept as it was written. */
export const isWrittenNumber = isRawJSON;

/** A long integer or a large exponent where a value can begin: a first look, since the careful way takes ten times as long. */
const mayBeUnheld = /[:,[\s]-?(?:\d{16}|[\d.]+[eE]\+?\d{3})/;
const integer = /^-?\d+$/;

/**
 * Parses text from outside. Keys named `__proto__` are refused: a copy of the value would lose them. Integers beyond 2^53 and
 * numbers beyond 1.8e308 become what is written as they came, and is no number. Throws JsonFault.
 */
export function parseJson(text: string, bounds: JsonBounds = defaultJsonBounds): unknown {
  let value: unknown;
  try {
    value = mayBeUnheld.test(text) ? JSON.parse(text, keepUnheld) : JSON.parse(text);
  } catch (cause) {
    throw new JsonFault('the text is not JSON', cause);
  }
  countNodes(value, bounds, bounds.maxNodes);
  return value;
}

function keepUnheld(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined || Number.isSafeInteger(value)) return value;
  return !Number.isFinite(value) || integer.test(source) ? rawJSON(source) : value;
}

/** Parses text that may be anything; undefined where it is not JSON within the bounds. */
export function tryParseJson(text: string, bounds: JsonBounds = defaultJsonBounds): unknown {
  try {
    return parseJson(text, bounds);
  } catch {
    return undefined;
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function countNodes(value: unknown, bounds: JsonBounds, nodesLeft: number, depth = 0): number {
  if (typeof value !== 'object' || value === null) return nodesLeft;
  if (depth === bounds.maxDepth) throw new JsonFault('the JSON is nested too deeply');
  let left = nodesLeft;
  if (Array.isArray(value)) {
    left -= value.length;
    for (const item of value) left = countNodes(item, bounds, left, depth + 1);
  } else {
    for (const key in value) {
      if (key === '__proto__' && bounds.allowsProto !== true) throw new JsonFault('the JSON has a key named __proto__');
      left = countNodes((value as JsonObject)[key], bounds, left - 1, depth + 1);
    }
  }
  if (left < 0) throw new JsonFault('the JSON has too many keys and items');
  return left;
}
