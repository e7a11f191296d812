import { countEscapes, findStringEnd } from '../text/string-end.ts';
import { findJsonError } from './find-json-error.ts';

export type JsonObject = { [key: string]: unknown };

/** Thrown if a text is not JSON or exceeds a bound. Clients can receive the message. */
export class JsonError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'JsonError';
  }
}

export interface JsonBounds {
  /** Maximum nesting depth of arrays and objects. */
  readonly maxDepth: number;
  /** Maximum number of nodes. A string counts as 2, a key as 6, any other value as 1, in proportion to their costs. */
  readonly maxNodes: number;
  /** Maximum length of text that is parsed in one step. An escape counts as `escapeChars`. Undefined means no limit. */
  readonly maxParsedChars?: number;
  /** Whether `__proto__` is accepted as a key, for readers that keep such keys. */
  readonly allowsProto?: boolean;
}

/** Bounds for parsing and visiting a value in about a tenth of a second, because the event loop is blocked meanwhile. */
export const defaultJsonBounds: JsonBounds = { maxDepth: 64, maxNodes: 500_000, maxParsedChars: 32 * 1024 ** 2 };

/** Cost of an escape, in plain characters. */
export const escapeChars = 8;
/** Escapes are counted only in texts that are longer than this. */
export const manyChars = 4 * 1024 ** 2;
/** Nodes that are counted at the colon of a key and at a string. Commas, objects, and arrays count as 1. */
export const [keyNodes, textNodes] = [5, 1];
const maxSearchedChars = 1024 ** 2;
/** Slowdown factor if numbers must be kept as written, because parsing then visits each node a second time. */
const secondVisitFactor = 10;

/** Writing a lone surrogate takes 0.2 µs, a hundred times as long as any other character. */
const maxLoneSurrogates = 100_000;
/** Length of an escape such as `\\ud800`. */
const surrogateEscapeLength = 6;

/** TypeScript has no types for these functions yet. `rawJSON` returns a value that is serialized as the given text. */
const { rawJSON, isRawJSON } = JSON as unknown as { rawJSON(text: string): object; isRawJSON(value: unknown): boolean };

/** Returns whether a value is a number that JavaScript cannot represent, kept as it was written. */
export const isWrittenNumber = isRawJSON;

/** Returns whether a value is a number beyond 1.8e308, as `parseJson` keeps it or as other parsers do. */
export function isInfinite(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return isRawJSON(value) && !Number.isFinite(Number(JSON.stringify(value)));
}

/** Structural characters of JSON. */
export const chars = { quote: 34, comma: 44, colon: 58, opening: 123, closing: 125, openingList: 91, closingList: 93 } as const;

const integerPattern = /^-?\d+$/;

/** Options for a text whose length and nodes were already checked. */
interface CountedText {
  /** Returns the text that this text is a part of. Undefined if the text is complete. */
  readonly toFullText?: (() => string) | undefined;
}

/**
 * Parses text from outside. Rejects keys named `__proto__`, because a copy of the object would lose them. Integers beyond 2^53
 * and numbers beyond 1.8e308 become raw JSON objects that are serialized as they were written. Throws `JsonError`. If the text is
 * only a part, the error names the position in the result of `toFullText`.
 */
export function parseJson(text: string, bounds: JsonBounds = defaultJsonBounds, counted?: CountedText): unknown {
  // A short text cannot exceed the bound by much, because JSON has at most 1.4 nodes per character.
  if (counted === undefined && text.length > bounds.maxNodes) checkBounds(text, bounds);
  if (text.length > maxLoneSurrogates * surrogateEscapeLength) rejectLoneSurrogates(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new JsonError(`invalid JSON${toErrorLocation(counted?.toFullText?.() ?? text)}`, cause);
  }
  if (!hasInexactNumber(value, bounds)) return value;
  const maxNodes = bounds.maxNodes / secondVisitFactor;
  if (text.length > maxNodes && countNodes(value) > maxNodes)
    throw new JsonError(`the JSON has numbers beyond 2^53 among more than ${maxNodes} keys and items. Send them as strings`);
  return JSON.parse(text, reviveUnrepresentable);
}

/** Throws `JsonError` if the text has too many escapes of surrogates that are not part of a pair. */
function rejectLoneSurrogates(text: string): void {
  if (!text.includes('\\ud') && !text.includes('\\uD')) return;
  let lone = 0;
  for (let at = text.indexOf('\\u'); at !== -1; at = text.indexOf('\\u', at + surrogateEscapeLength)) {
    const kind = getSurrogateKind(text, at);
    if (kind === undefined) continue;
    if (kind === 'high' && getSurrogateKind(text, at + surrogateEscapeLength) === 'low') at += surrogateEscapeLength;
    else lone += 1;
    if (lone > maxLoneSurrogates)
      throw new JsonError(`the text has more than ${maxLoneSurrogates} lone surrogates such as \\ud800, which are not Unicode`);
  }
}

const lowercase = 32;
const [letterD, letterC, letterF] = [100, 99, 102];

/** Returns which half of a surrogate pair the escape at this index is, if any. */
function getSurrogateKind(text: string, at: number): 'high' | 'low' | undefined {
  if (text[at] !== '\\' || text[at + 1] !== 'u' || (text.charCodeAt(at + 2) | lowercase) !== letterD) return undefined;
  const digit = text.charCodeAt(at + 3) | lowercase;
  if (digit >= letterC && digit <= letterF) return 'low';
  return /[89ab]/i.test(text[at + 3] ?? '') ? 'high' : undefined;
}

function countNodes(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, item) => sum + countNodes(item), 1);
}

/** Returns the position of the error as text, or an empty string for a long text, because the search is slow. */
function toErrorLocation(text: string): string {
  if (text.length > maxSearchedChars) return '';
  const { line, column } = findJsonError(text);
  return ` at line ${line}, column ${column}`;
}

function reviveUnrepresentable(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined || isExact(value)) return value;
  return !Number.isFinite(value) || integerPattern.test(source) ? rawJSON(source) : value;
}

/** Returns whether the integer part of a number is certainly the one in the text. */
function isExact(value: number): boolean {
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
}

/** Parses text that may be anything. Returns undefined if it is not JSON within the bounds. */
export function tryParseJson(text: string, bounds: JsonBounds = defaultJsonBounds): unknown {
  // Event streams can have 100,000 events without data, and each error takes 10 µs.
  if (text === '') return undefined;
  try {
    return parseJson(text, bounds);
  } catch {
    return undefined;
  }
}

/** Returns the same text for equal JSON values. */
export function toCanonicalText(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isJsonObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}

/** Returns whether a value is a JSON object. A number that is kept as written is an object in JavaScript, but not in JSON. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJSON(value);
}

/** Counts the nodes in the text before it is parsed, because the parsed value can take thirty times the memory of the text. */
function checkBounds(text: string, bounds: JsonBounds): void {
  const { maxDepth, maxNodes } = bounds;
  let cost = text.length;
  checkLength(cost, bounds);
  let nodes = 0;
  let depth = 0;
  // Index of the next backslash, so that strings without one do not search for it again.
  let backslashAt = -1;
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charCodeAt(index);
    if (char < chars.quote) continue;
    switch (char) {
      case chars.quote: {
        const end = findStringEnd(text, index + 1);
        if (text.length > manyChars) {
          if (backslashAt <= index) backslashAt = findBackslash(text, index + 1);
          if (backslashAt < end) cost += escapeChars * countEscapes(text, backslashAt, end);
        }
        nodes += textNodes;
        index = end;
        break;
      }
      case chars.opening:
      case chars.openingList:
        nodes += 1;
        depth += 1;
        break;
      case chars.closing:
      case chars.closingList:
        depth -= 1;
        break;
      case chars.comma:
        nodes += 1;
        break;
      case chars.colon:
        nodes += keyNodes;
    }
    if (depth > maxDepth) throw toTooDeepError(bounds);
    if (nodes > maxNodes) throw toTooManyNodesError(bounds);
  }
  checkLength(cost, bounds);
}

/** Returns the index of the next backslash, or the length of the text if there is none. */
function findBackslash(text: string, start: number): number {
  const at = text.indexOf('\\', start);
  return at === -1 ? text.length : at;
}

/** Throws `JsonError` if the length exceeds `maxParsedChars`. */
export function checkLength(length: number, { maxParsedChars = Number.POSITIVE_INFINITY }: JsonBounds): void {
  if (length <= maxParsedChars) return;
  const mebibytes = maxParsedChars / 1024 ** 2;
  throw new JsonError(
    `the JSON has more than ${mebibytes} MiB, not counting long strings without escape sequences. Each escape sequence counts as ${escapeChars} bytes`,
  );
}

export function toTooManyNodesError({ maxNodes }: JsonBounds): JsonError {
  return new JsonError(`the JSON has more than ${maxNodes} keys and items`);
}

export function toTooDeepError({ maxDepth }: Pick<JsonBounds, 'maxDepth'>): JsonError {
  return new JsonError(`the JSON is nested deeper than ${maxDepth} levels`);
}

/** Returns whether a value has a number that may be inexact. Throws `JsonError` for too deep nesting and for `__proto__`. */
function hasInexactNumber(value: unknown, bounds: JsonBounds, depth = 0): boolean {
  if (typeof value === 'number') return !isExact(value);
  if (typeof value !== 'object' || value === null) return false;
  if (depth === bounds.maxDepth) throw toTooDeepError(bounds);
  let isFound = false;
  if (Array.isArray(value)) {
    for (const item of value) if (hasInexactNumber(item, bounds, depth + 1)) isFound = true;
    return isFound;
  }
  for (const key in value) {
    if (key === '__proto__' && bounds.allowsProto !== true) throw new JsonError('the JSON has a key named __proto__');
    if (hasInexactNumber((value as JsonObject)[key], bounds, depth + 1)) isFound = true;
  }
  return isFound;
}

/** Returns the keys of a JSON pointer such as `/a/b~1c` in order (RFC 6901). */
export function parsePointer(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the value if it is a JSON object, otherwise an empty object. */
export function toObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Returns the objects of a list. The result is empty if the value is not a list. */
export function filterObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Returns whether a value is a text that is not empty. White space counts as text. */
export function isNonEmptyText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Returns the value if it is a string, otherwise an empty string. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the value if it is a number, otherwise undefined. */
export function toNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Returns the strings of a list. The result is empty if the value is not a list. */
export function filterStrings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Returns whether a JSON Schema has a default value. */
export function hasDefault(schema: unknown): boolean {
  return isJsonObject(schema) && schema.default !== undefined;
}
