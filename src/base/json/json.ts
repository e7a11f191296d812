import { countEscapes, findStringEnd } from '../text/string-end.ts';
import { findJsonError } from './find-json-error.ts';

export type JsonObject = { [key: string]: unknown };

/** The text is not JSON, or breaks a bound. The message may be shown. */
export class JsonError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'JsonError';
  }
}

export interface JsonBounds {
  /** How deep arrays and objects may be nested. */
  readonly maxDepth: number;
  /** How many values and items the whole may have. A string counts as 2, a key as 6, anything else as 1: that is what they cost. */
  readonly maxNodes: number;
  /** How long the text may be that is parsed in one go, an escape as `escapeChars`; absent: as long as can be. */
  readonly maxParsedChars?: number;
  /** Whether a key may be `__proto__`: for readers that keep such keys. */
  readonly allowsProto?: boolean;
}

/** What can be parsed and looked through in a tenth of a second, more or less: nobody else is served meanwhile. */
export const defaultJsonBounds: JsonBounds = { maxDepth: 64, maxNodes: 500_000, maxParsedChars: 32 * 1024 ** 2 };

/** An escape costs as much as so many plain chars. */
export const escapeChars = 8;
/** Escapes are counted in longer texts only. */
export const manyChars = 4 * 1024 ** 2;
/** What a key and a text cost beside what parts them. */
export const [keyNodes, textNodes] = [5, 1];
const maxSearchedChars = 1024 ** 2;
/** To keep numbers that JavaScript has none for, each node is visited a second time, which takes so many times as long. */
const secondVisit = 10;

/** A lone surrogate takes 0.2 µs to be written again, a hundred times as long as any other character. */
const maxLoneSurrogates = 100_000;
/** Characters of an escape such as `\\ud800`. */
const escapedChars = 6;

/** Not in the types of the language yet: a value that is written as that text. */
const { rawJSON, isRawJSON } = JSON as unknown as { rawJSON(text: string): object; isRawJSON(value: unknown): boolean };

/** Whether a value is a number that JavaScript has none for, kept as it was written. */
export const isWrittenNumber = isRawJSON;

/** Returns whether a value is a number beyond 1.8e308, as `parseJson` keeps it or as other parsers do. */
export function isInfinite(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return isRawJSON(value) && !Number.isFinite(Number(JSON.stringify(value)));
}

/** What JSON is made of, outside of its strings. */
export const chars = { quote: 34, comma: 44, colon: 58, opening: 123, closing: 125, openingList: 91, closingList: 93 } as const;

const integer = /^-?\d+$/;

/** A text that is known to be short, and to have few nodes. */
interface CountedText {
  /** The text that it is a part of; absent: it is all. */
  readonly toFullText?: (() => string) | undefined;
}

/**
 * Parses text from outside. Keys named `__proto__` are refused: a copy of the value would lose them. Integers beyond 2^53 and
 * numbers beyond 1.8e308 become what is written as they came, and is no number. Throws JsonFault, which tells a place in
 * what `toWhole` gives if the text is only a part.
 */
export function parseJson(text: string, bounds: JsonBounds = defaultJsonBounds, counted?: CountedText): unknown {
  // A text has no more nodes than chars, so a short one cannot break the bound.
  if (counted === undefined && text.length > bounds.maxNodes) checkBounds(text, bounds);
  if (text.length > maxLoneSurrogates * escapedChars) rejectLoneSurrogates(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new JsonError(`the text is not JSON${toErrorLocation(counted?.toFullText?.() ?? text)}`, cause);
  }
  if (!hasInexactNumber(value, bounds)) return value;
  const maxNodes = bounds.maxNodes / secondVisit;
  if (text.length > maxNodes && countNodes(value) > maxNodes)
    throw new JsonError(`the JSON has numbers beyond 2^53 among more than ${maxNodes} keys and items; send them as texts`);
  return JSON.parse(text, reviveUnrepresentable);
}

/** Throws `JsonFault` for too many escapes of surrogates that are not part of a pair. */
function rejectLoneSurrogates(text: string): void {
  if (!text.includes('\\ud') && !text.includes('\\uD')) return;
  let lone = 0;
  for (let at = text.indexOf('\\u'); at !== -1; at = text.indexOf('\\u', at + escapedChars)) {
    const kind = surrogateAt(text, at);
    if (kind === undefined) continue;
    if (kind === 'high' && surrogateAt(text, at + escapedChars) === 'low') at += escapedChars;
    else lone += 1;
    if (lone > maxLoneSurrogates)
      throw new JsonError(`the text has more than ${maxLoneSurrogates} lone surrogates such as \\ud800, which are not Unicode`);
  }
}

const lowercase = 32;
const [letterD, letterC, letterF] = [100, 99, 102];

/** Returns which half of a surrogate pair the escape at this index is, if any. */
function surrogateAt(text: string, at: number): 'high' | 'low' | undefined {
  if (text[at] !== '\\' || text[at + 1] !== 'u' || (text.charCodeAt(at + 2) | lowercase) !== letterD) return undefined;
  const digit = text.charCodeAt(at + 3) | lowercase;
  if (digit >= letterC && digit <= letterF) return 'low';
  return /[89ab]/i.test(text[at + 3] ?? '') ? 'high' : undefined;
}

function countNodes(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, item) => sum + countNodes(item), 1);
}

/** The place in words; nothing for a long text, since to look for it takes many times as long as to parse. */
function toErrorLocation(text: string): string {
  if (text.length > maxSearchedChars) return '';
  const { line, column } = findJsonError(text);
  return ` from line ${line}, column ${column} on`;
}

function reviveUnrepresentable(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined || isExact(value)) return value;
  return !Number.isFinite(value) || integer.test(source) ? rawJSON(source) : value;
}

/** Whether a number is sure to be the one that was written, as far as its whole part goes. */
function isExact(value: number): boolean {
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
}

/** Parses text that may be anything; undefined if it is not JSON within the bounds. */
export function tryParseJson(text: string, bounds: JsonBounds = defaultJsonBounds): unknown {
  // Event streams can have 100,000 events without data, and the error for each takes 10 µs.
  if (text === '') return undefined;
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
function checkBounds(text: string, bounds: JsonBounds): void {
  const { maxDepth, maxNodes } = bounds;
  let cost = text.length;
  checkLength(cost, bounds);
  let nodes = 0;
  let depth = 0;
  // The next backslash of the text, so that strings without one do not search for it again.
  let backslashAt = -1;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char < chars.quote) continue;
    switch (char) {
      case chars.quote: {
        const end = findStringEnd(text, at + 1);
        if (text.length > manyChars) {
          if (backslashAt <= at) backslashAt = findBackslash(text, at + 1);
          if (backslashAt < end) cost += escapeChars * countEscapes(text, backslashAt, end);
        }
        nodes += textNodes;
        at = end;
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

/** Returns the position of the next backslash, or the length of the text if there is none. */
function findBackslash(text: string, start: number): number {
  const at = text.indexOf('\\', start);
  return at === -1 ? text.length : at;
}

/** Throws JsonFault if that many chars are too many to be parsed in one go. */
export function checkLength(length: number, { maxParsedChars = Number.POSITIVE_INFINITY }: JsonBounds): void {
  if (length <= maxParsedChars) return;
  const mebibytes = maxParsedChars / 1024 ** 2;
  throw new JsonError(
    `the JSON has more than ${mebibytes} MiB beside long strings without escapes, where an escape counts as ${escapeChars} bytes`,
  );
}

export function toTooManyNodesError({ maxNodes }: JsonBounds): JsonError {
  return new JsonError(`the JSON has more than ${maxNodes} keys and items`);
}

export function toTooDeepError({ maxDepth }: Pick<JsonBounds, 'maxDepth'>): JsonError {
  return new JsonError(`the JSON is nested deeper than ${maxDepth} levels`);
}

/** Whether a parsed value has a number that JavaScript has none for. Throws JsonFault if it breaks a bound. */
function hasInexactNumber(value: unknown, bounds: JsonBounds, depth = 0): boolean {
  if (typeof value === 'number') return !Number.isSafeInteger(value) && !isExact(value);
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

/** The keys that a JSON pointer such as `/a/b~1c` leads along (RFC 6901), in their order. */
export function parsePointer(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the objects of a list. The result is empty if the value is not a list. */
export function filterObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Returns the strings of a list. The result is empty if the value is not a list. */
export function filterStrings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Returns whether a JSON Schema has a default value. */
export function hasDefault(schema: unknown): boolean {
  return isJsonObject(schema) && schema.default !== undefined;
}
