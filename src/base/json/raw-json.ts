import { isUtf8 } from 'node:buffer';
import type { HttpBody } from '../http/client.ts';
import { freeBytes, fromLatin1, hasControls, toLatin1 } from '../text/bytes.ts';
import { defaultJsonBounds, isJsonObject, type JsonBounds, JsonError, type JsonObject, manyChars, parseJson } from './json.ts';
import { JsonOutline, type Span } from './json-outline.ts';

/** Smaller texts are parsed and written as a whole. */
const largeBytes = 16 * 1024;

/** Where an object that was parsed keeps the text it came from. Copies of the object take it along. */
const sourceKey = Symbol('written');

interface SourceText {
  /** As latin1 bytes. */
  readonly text: string;
  /** Long fields of the object. */
  readonly fields: ReadonlyMap<string, Span & { readonly value: unknown }>;
}

/**
 * Parses JSON from outside, as `parseJson` does, and frees its bytes. Of a large object it remembers where its fields stand in the
 * text, for `toJsonPieces`. Long strings are not parsed but cut out first: a sliced string costs nothing, however long it is.
 */
export function parseJsonBytes(bytes: Buffer, bounds: JsonBounds = defaultJsonBounds): unknown {
  if (!isUtf8(bytes)) throw new JsonError('it is not valid UTF-8');
  if (bytes.length < largeBytes) return parseJson(bytes.toString(), bounds);
  const withControls = hasControls(bytes);
  if (withControls && bytes.length <= manyChars) return parseJson(bytes.toString(), bounds);
  const outline = new JsonOutline(bytes, bounds, withControls);
  const rest = outline.isMostlyCutOut ? fromLatin1(outline.rest) : outline.isAscii ? outline.text : bytes.toString();
  freeBytes(bytes);
  const toFullText = outline.isMostlyCutOut ? () => fromLatin1(outline.text) : undefined;
  const holder = { parsed: parseJson(rest, bounds, { toFullText }) };
  const isFaithful = outline.restore(holder) - 1 === outline.keyCount;
  const value: unknown = holder.parsed;
  // The parser keeps one value of a repeated key: a text with a value that nobody checked is not passed on.
  if (isFaithful && !withControls && isJsonObject(value))
    Object.assign(value, { [sourceKey]: { text: outline.text, fields: outline.mapFields(value) } });
  return value;
}

/**
 * The JSON of a copy of a parsed object, as latin1 bytes in pieces: fields that are still what was parsed go out as they came.
 * Undefined if none of them is large.
 */
export function toJsonPieces(copy: JsonObject): readonly string[] | undefined {
  const source = (copy as { readonly [sourceKey]?: SourceText })[sourceKey];
  if (source === undefined) return undefined;
  // Otherwise a large body without such a field would be written twice.
  const hasUnchanged = [...source.fields].some(([key, { value }]) => copy[key] === value);
  if (!hasUnchanged) return undefined;
  const pieces: string[] = [];
  let text = '';
  for (const [key, value] of Object.entries(copy)) {
    const field = source.fields.get(key);
    const isUnchanged = field !== undefined && field.value === value;
    const json = isUnchanged ? '' : JSON.stringify(value);
    if (json === undefined) continue;
    text += `${text === '' && pieces.length === 0 ? '{' : ','}${JSON.stringify(key)}:${json}`;
    if (!isUnchanged) continue;
    pieces.push(toLatin1(text), source.text.slice(field.start, field.end));
    text = '';
  }
  pieces.push(toLatin1(`${text}}`));
  return pieces;
}

/** Larger bodies are written apart from their head. */
const maxJoinedChars = 12 * 1024;

/** The JSON of a body: large fields of the caller's as they came; small bodies as latin1 text, which goes out in one write with the head. */
export function toBody(body: JsonObject): HttpBody {
  const pieces = toJsonPieces(body);
  if (pieces !== undefined) return pieces;
  const json = JSON.stringify(body);
  return json.length <= maxJoinedChars ? toLatin1(json) : Buffer.from(json);
}
