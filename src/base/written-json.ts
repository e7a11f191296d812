import { isAscii, isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { freeBytes } from './free-bytes.ts';
import { defaultJsonBounds, isJsonObject, type JsonBounds, JsonFault, type JsonObject, parseJson } from './json.ts';
import { fromLatin1, toLatin1 } from './latin1.ts';
import { stringEnd } from './string-end.ts';

/** Smaller texts are parsed and written as a whole. */
const largeBytes = 16 * 1024;
/** Shorter strings are left to the parser, shorter fields are written anew. */
const longChars = 512;
/** Stands for a long string while the rest of its text is parsed; nobody outside can guess it. */
const mark = `${randomUUID()}:`;

const [quote, comma, colon, opening, closing, openingList, closingList] = [34, 44, 58, 123, 125, 91, 93];

/** Where an object that was parsed keeps the text it came from. Copies of the object take it along. */
const written = Symbol('written');

interface Written {
  /** As latin1 bytes. */
  readonly text: string;
  /** Long fields of the object. */
  readonly fields: ReadonlyMap<string, Span & { readonly value: unknown }>;
}

/** A part of the text. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses JSON from outside, as `parseJson` does, and frees its bytes. Of a large object it remembers where its fields stand in the
 * text, for `toJsonPieces`. Long strings are not parsed but cut out first: a sliced string costs nothing, however long it is.
 */
export function parseJsonBytes(bytes: Buffer, bounds: JsonBounds = defaultJsonBounds): unknown {
  if (!isUtf8(bytes)) throw new JsonFault('it is not valid UTF-8');
  if (bytes.length < largeBytes || hasControls(bytes)) return parseJson(bytes.toString(), bounds);
  const outline = new Outline(bytes);
  const rest = outline.isMostlyCut ? fromLatin1(outline.rest) : bytes.toString();
  freeBytes(bytes);
  const parsed = parseJson(rest, bounds, outline.isMostlyCut ? () => fromLatin1(outline.text) : undefined);
  const holder = { parsed };
  const isFaithful = restore(holder, outline.long) - 1 === outline.keyCount;
  const value: unknown = holder.parsed;
  // The parser keeps one value of a repeated key: a text with a value that nobody checked is not passed on.
  if (isFaithful && isJsonObject(value))
    Object.assign(value, { [written]: { text: outline.text, fields: outline.fieldsOf(value) } });
  return value;
}

/**
 * The JSON of a copy of a parsed object, as latin1 bytes in pieces: fields that are still what was parsed go out as they came.
 * Undefined if none of them is large.
 */
export function toJsonPieces(copy: JsonObject): readonly string[] | undefined {
  const source = (copy as { readonly [written]?: Written })[written];
  if (source === undefined || source.fields.size === 0) return undefined;
  const pieces: string[] = [];
  let text = '';
  for (const [key, value] of Object.entries(copy)) {
    const field = source.fields.get(key);
    const isSame = field !== undefined && field.value === value;
    const json = isSame ? '' : JSON.stringify(value);
    if (json === undefined) continue;
    text += `${text === '' && pieces.length === 0 ? '{' : ','}${JSON.stringify(key)}:${json}`;
    if (!isSame) continue;
    pieces.push(toLatin1(text), source.text.slice(field.start, field.end));
    text = '';
  }
  if (pieces.length === 0) return undefined;
  pieces.push(toLatin1(`${text}}`));
  return pieces;
}

/** Splits a JSON text into its long plain strings and the rest. Meaningless for a text that is not JSON. */
class Outline {
  /** The whole text, as latin1 bytes. */
  readonly text: string;
  /** As latin1 bytes, with marks in the place of the long strings. */
  readonly rest: string;
  readonly long: string[] = [];
  keyCount = 0;
  readonly #bytes: Buffer;
  readonly #isAscii: boolean;
  readonly #fields: (Span & { readonly name: Span })[] = [];
  #rest = '';
  #restStart = 0;
  #nextBackslash = -1;
  #lastString: Span = { start: 0, end: 0 };
  #depth = 0;
  #field: { readonly name: Span; readonly start: number } | undefined;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.text = bytes.toString('latin1');
    this.#isAscii = isAscii(bytes);
    this.#scan();
    this.rest = this.#rest + this.text.slice(this.#restStart);
  }

  /** Whether parsing only the rest is cheaper, although the rest is decoded a second time. */
  get isMostlyCut(): boolean {
    return this.rest.length * 2 < this.text.length;
  }

  /** The fields of the text's object that are long, by name. */
  fieldsOf(value: JsonObject): Written['fields'] {
    return new Map(
      this.#fields.map(({ name, start, end }) => {
        const key = parseJson(fromLatin1(this.text.slice(name.start, name.end))) as string;
        return [key, { start, end, value: value[key] }];
      }),
    );
  }

  #scan(): void {
    const text = this.text;
    for (let at = 0; at < text.length; at += 1) {
      switch (text.charCodeAt(at)) {
        case quote:
          at = this.#skipString(at);
          break;
        case opening:
        case openingList:
          this.#depth += 1;
          break;
        case colon:
          this.keyCount += 1;
          if (this.#depth === 1) this.#field = { name: this.#lastString, start: at + 1 };
          break;
        case comma:
          if (this.#depth === 1) this.#endField(at);
          break;
        case closing:
        case closingList:
          if (this.#depth === 1) this.#endField(at);
          this.#depth -= 1;
      }
    }
  }

  #endField(end: number): void {
    if (this.#field !== undefined && end - this.#field.start >= longChars) this.#fields.push({ ...this.#field, end });
    this.#field = undefined;
  }

  /** Gives the place of the quote that closes the string. */
  #skipString(start: number): number {
    const end = stringEnd(this.text, start + 1);
    this.#lastString = { start, end: end + 1 };
    if (end - start > longChars && this.#isPlain(start + 1, end) && !this.#isKey(end)) this.#cut(start + 1, end);
    return end;
  }

  #cut(start: number, end: number): void {
    this.#rest += `${this.text.slice(this.#restStart, start)}${mark}${this.long.length}`;
    this.#restStart = end;
    this.long.push(this.text.slice(start, end));
  }

  /** Whether the string has no escapes and is ASCII. There are no control characters in the whole text. */
  #isPlain(start: number, end: number): boolean {
    if (this.#nextBackslash < start) {
      const next = this.text.indexOf('\\', start);
      this.#nextBackslash = next === -1 ? this.text.length : next;
    }
    return this.#nextBackslash >= end && (this.#isAscii || isAscii(this.#bytes.subarray(start, end)));
  }

  #isKey(end: number): boolean {
    let next = end + 1;
    while (this.text[next] === ' ') next += 1;
    return this.text.charCodeAt(next) === colon;
  }
}

/** Puts the long strings in the place of their marks, everywhere in an object or array. Gives the number of keys. */
function restore(parent: object, long: readonly string[]): number {
  if (Array.isArray(parent)) {
    let keys = 0;
    for (let at = 0; at < parent.length; at += 1) keys += restoreAt(parent, at, long);
    return keys;
  }
  let keys = 0;
  for (const key in parent) keys += 1 + restoreAt(parent as JsonObject, key, long);
  return keys;
}

function restoreAt<Key extends string | number>(parent: Record<Key, unknown>, key: Key, long: readonly string[]): number {
  const value = parent[key];
  if (typeof value === 'object' && value !== null) return restore(value, long);
  if (typeof value === 'string' && value.startsWith(mark)) parent[key] = long[Number(value.slice(mark.length))];
  return 0;
}

/** Whether there are control characters. Line breaks between tokens count too: indented JSON is parsed as a whole. */
function hasControls(bytes: Buffer): boolean {
  const skipped = Math.min((4 - (bytes.byteOffset % 4)) % 4, bytes.length);
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + skipped, (bytes.length - skipped) >> 2);
  const blockWords = 1024;
  for (let block = 0; block < words.length; block += blockWords) {
    const end = Math.min(block + blockWords, words.length);
    let found = 0;
    for (let at = block; at < end; at += 1) {
      const word = words[at] as number;
      // A byte below 32 borrows, and has no highest bit of its own.
      found |= (word - 0x20202020) & ~word & 0x80808080;
    }
    if (found !== 0) return true;
  }
  const isControl = (byte: number): boolean => byte < 0x20;
  return bytes.subarray(0, skipped).some(isControl) || bytes.subarray(skipped + words.length * 4).some(isControl);
}
