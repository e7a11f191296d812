import { isUtf8 } from 'node:buffer';
import type { HttpBody } from '../http/client.ts';
import { freeBytes, fromLatin1, hasControls, toLatin1 } from '../text/bytes.ts';
import { defaultJsonBounds, isJsonObject, type JsonBounds, JsonError, type JsonObject, manyChars, parseJson } from './json.ts';
import { JsonOutline, type Span } from './json-outline.ts';

/** Smaller texts are parsed and serialized without an outline. */
const largeBytes = 16 * 1024;

/** Key for the source text of a parsed object. Copies made with object spread keep it. */
const sourceKey = Symbol('written');

interface SourceText {
  /** The text as latin1 bytes. */
  readonly text: string;
  /** Long fields of the object. */
  readonly fields: ReadonlyMap<string, Span & { readonly value: unknown }>;
}

/**
 * Parses JSON from outside like `parseJson`, and frees the bytes of large texts. A large object stores the positions of its
 * fields in the text for `toJsonPieces`. Long strings are not parsed but sliced from the text, which costs nothing regardless of
 * their length.
 */
export function parseJsonBytes(bytes: Buffer, bounds: JsonBounds = defaultJsonBounds): unknown {
  if (!isUtf8(bytes)) throw new JsonError('the text is not valid UTF-8');
  if (bytes.length < largeBytes) return parseJson(bytes.toString(), bounds);
  const withControls = hasControls(bytes);
  if (withControls && bytes.length <= manyChars) return parseJson(bytes.toString(), bounds);
  const outline = new JsonOutline(bytes, bounds, withControls);
  const text = outline.isMostlyCutOut ? fromLatin1(outline.outlineText) : outline.isAscii ? outline.text : bytes.toString();
  freeBytes(bytes);
  const toFullText = outline.isMostlyCutOut ? () => fromLatin1(outline.text) : undefined;
  const holder = { parsed: parseJson(text, bounds, { toFullText }) };
  const isFaithful = outline.restore(holder) - 1 === outline.keyCount;
  const value: unknown = holder.parsed;
  // The parser keeps only one value of a duplicate key. A text with an unchecked second value must not be passed on.
  if (isFaithful && !withControls && isJsonObject(value))
    Object.assign(value, { [sourceKey]: { text: outline.text, fields: outline.mapFields(value) } });
  return value;
}

/** Serializes a copy to pieces of latin1 bytes that reuse unchanged fields. Returns undefined if no large field is unchanged. */
export function toJsonPieces(copy: JsonObject): readonly string[] | undefined {
  const source = (copy as { readonly [sourceKey]?: SourceText })[sourceKey];
  if (source === undefined) return undefined;
  // Without this check, a large body without such a field would be serialized twice.
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

/** Longer bodies are not joined with the message head. */
const maxJoinedChars = 12 * 1024;

/** Serializes a body. Unchanged large fields reuse the client's text. Small bodies are latin1 for one write with the head. */
export function toBody(body: JsonObject): HttpBody {
  const pieces = toJsonPieces(body);
  if (pieces !== undefined) return pieces;
  const json = JSON.stringify(body);
  return json.length <= maxJoinedChars ? toLatin1(json) : Buffer.from(json);
}
