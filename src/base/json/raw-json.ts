import { isAscii, isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { encodeBody, type HttpBody } from '../http/client.ts';
import { freeBytes, fromLatin1, hasControls, toLatin1 } from '../text/bytes.ts';
import { countEscapes, findStringEnd } from '../text/string-end.ts';
import {
  chars,
  checkLength,
  defaultJsonBounds,
  escapeChars,
  isJsonObject,
  type JsonBounds,
  JsonError,
  type JsonObject,
  keyNodes,
  manyChars,
  parseJson,
  textNodes,
  toTooDeepError,
  toTooManyNodesError,
} from './json.ts';

/** Smaller texts are parsed and serialized without an outline. */
const largeBytes = 16 * 1024;

/** Key for the source text of a parsed object. Copies made with object spread keep it. */
const sourceKey = Symbol('source');

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
  const hasControlBytes = hasControls(bytes);
  if (hasControlBytes && bytes.length <= manyChars) return parseJson(bytes.toString(), bounds);
  const outline = new JsonOutline(bytes, bounds, hasControlBytes);
  const text = outline.isMostlyCutOut ? fromLatin1(outline.outlineText) : outline.isAscii ? outline.text : bytes.toString();
  freeBytes(bytes);
  const toFullText = outline.isMostlyCutOut ? () => fromLatin1(outline.text) : undefined;
  const holder = { parsed: parseJson(text, bounds, { toFullText }) };
  // `restore` also counts the key of `holder`.
  const isFaithful = outline.restore(holder) - 1 === outline.keyCount;
  const value: unknown = holder.parsed;
  // The parser keeps only one value of a duplicate key. A text with an unchecked second value must not be passed on.
  if (isFaithful && !hasControlBytes && isJsonObject(value))
    Object.assign(value, { [sourceKey]: { text: outline.text, fields: outline.mapFields(value) } });
  return value;
}

/** Serializes a copy to pieces of latin1 bytes that reuse unchanged fields. Returns undefined if there are no such fields. */
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

/** Serializes a body. Unchanged large fields reuse the client's text. */
export function toBody(body: JsonObject): HttpBody {
  return toJsonPieces(body) ?? encodeBody(JSON.stringify(body));
}

/** Minimum length of strings that are cut out and of fields whose text is reused. */
const longChars = 512;
/** Placeholder of a long string while the rest of the text is parsed. It is random, so that clients cannot guess it. */
const mark = `${randomUUID()}:`;

/** Indexed by byte value: 1 for the characters in `chars`. */
const isStructural = Uint8Array.from({ length: 256 }, (_, byte) => (Object.values<number>(chars).includes(byte) ? 1 : 0));

/** Part of the text. `end` is exclusive. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Splits a JSON text into its long plain strings and the rest, and counts the nodes of the rest. The result is meaningless for
 * invalid JSON. Throws `JsonError` as soon as a bound is exceeded.
 */
class JsonOutline {
  /** The text as latin1 bytes, with marks in place of the long strings. */
  readonly outlineText: string;
  /** Whether all bytes are ASCII, so that `text` needs no decoding. */
  readonly isAscii: boolean;
  keyCount = 0;
  readonly #long: string[] = [];
  readonly #bytes: Buffer;
  readonly #bounds: JsonBounds;
  readonly #hasControls: boolean;
  readonly #fields: (Span & { readonly name: Span })[] = [];
  #text: string | undefined;
  #rest = '';
  #restStart = 0;
  /** Difference between the parsing cost and the number of bytes. Cut-out strings reduce it, and escapes increase it. */
  #extraCost = 0;
  #nextBackslash = -1;
  #lastString: Span = { start: 0, end: 0 };
  #depth = 0;
  #nodes = 0;
  #field: { readonly name: Span; readonly start: number } | undefined;

  constructor(bytes: Buffer, bounds: JsonBounds, hasControlBytes: boolean) {
    this.#bytes = bytes;
    this.#bounds = bounds;
    this.#hasControls = hasControlBytes;
    this.isAscii = isAscii(bytes);
    this.#scan();
    this.outlineText = this.#rest + this.text.slice(this.#restStart);
  }

  /** The complete text as latin1 bytes. Created at the first string, so that a body without strings is rejected sooner. */
  get text(): string {
    this.#text ??= this.#bytes.toString('latin1');
    return this.#text;
  }

  /** Whether parsing only the rest is cheaper, although the rest is decoded a second time. */
  get isMostlyCutOut(): boolean {
    return this.outlineText.length * 2 < this.text.length;
  }

  /** Returns the long fields of the top-level object by name. */
  mapFields(value: JsonObject): ReadonlyMap<string, Span & { readonly value: unknown }> {
    return new Map(
      this.#fields.map(({ name, start, end }) => {
        const key = parseJson(fromLatin1(this.text.slice(name.start, name.end))) as string;
        return [key, { start, end, value: value[key] }];
      }),
    );
  }

  /** Replaces the marks with the long strings everywhere in an object or array. Returns the number of keys. */
  restore(parent: object): number {
    if (Array.isArray(parent)) {
      let keys = 0;
      for (let index = 0; index < parent.length; index += 1) keys += this.#restoreAt(parent, index);
      return keys;
    }
    let keys = 0;
    for (const key in parent) keys += 1 + this.#restoreAt(parent as JsonObject, key);
    return keys;
  }

  #restoreAt<Key extends string | number>(parent: Record<Key, unknown>, key: Key): number {
    const value = parent[key];
    if (typeof value === 'object' && value !== null) return this.restore(value);
    if (typeof value === 'string' && value.startsWith(mark)) parent[key] = this.#long[Number(value.slice(mark.length))];
    return 0;
  }

  #scan(): void {
    const bytes = this.#bytes;
    let end = this.#getScanEnd();
    let at = 0;
    for (; at < end; at += 1) {
      const byte = bytes[at] as number;
      if (isStructural[byte] === 0) continue;
      switch (byte) {
        case chars.quote:
          at = this.#skipString(at);
          end = this.#getScanEnd();
          break;
        case chars.opening:
        case chars.openingList:
          this.#open();
          break;
        case chars.colon:
          this.#count(keyNodes, at);
          this.keyCount += 1;
          if (this.#depth === 1) this.#field = { name: this.#lastString, start: at + 1 };
          break;
        case chars.comma:
          this.#count(1, at);
          if (this.#depth === 1) this.#endField(at);
          break;
        case chars.closing:
        case chars.closingList:
          if (this.#depth === 1) this.#endField(at);
          this.#depth -= 1;
      }
    }
    checkLength(at + this.#extraCost, this.#bounds);
  }

  /** Returns the index at which the scan ends, because the text ends or a bound is exceeded. */
  #getScanEnd(): number {
    return Math.min(this.#bytes.length, (this.#bounds.maxParsedChars ?? Number.POSITIVE_INFINITY) - this.#extraCost + 1);
  }

  #open(): void {
    this.#nodes += 1;
    this.#depth += 1;
    if (this.#depth > this.#bounds.maxDepth) throw toTooDeepError(this.#bounds);
  }

  #count(nodes: number, at: number): void {
    this.#nodes += nodes;
    if (this.#nodes > this.#bounds.maxNodes) throw toTooManyNodesError(this.#bounds);
    if (at > manyChars) checkLength(at + this.#extraCost, this.#bounds);
  }

  #endField(end: number): void {
    if (this.#field !== undefined && end - this.#field.start >= longChars) this.#fields.push({ ...this.#field, end });
    this.#field = undefined;
  }

  /** Returns the index of the quote that closes the string. */
  #skipString(start: number): number {
    const end = findStringEnd(this.text, start + 1);
    this.#lastString = { start, end: end + 1 };
    this.#count(textNodes, start);
    if (end - start > longChars) this.#skipLongString(start + 1, end);
    else if (this.#bytes.length > manyChars) this.#countEscapes(start + 1, end);
    return end;
  }

  #skipLongString(start: number, end: number): void {
    if (this.#isPlain(start, end) && !this.#isKey(end)) this.#cutOut(start, end);
    else if (this.#bytes.length > manyChars) this.#countEscapes(start, end);
  }

  #countEscapes(start: number, end: number): void {
    checkLength(end + this.#extraCost, this.#bounds);
    if (this.#hasBackslash(start, end)) this.#extraCost += escapeChars * countEscapes(this.text, start, end);
  }

  #cutOut(start: number, end: number): void {
    this.#rest += `${this.text.slice(this.#restStart, start)}${mark}${this.#long.length}`;
    this.#restStart = end;
    this.#extraCost -= end - start;
    const isSliceable = this.isAscii || this.#bytes.length <= manyChars || isAscii(this.#bytes.subarray(start, end));
    this.#long.push(isSliceable ? this.text.slice(start, end) : this.#bytes.toString('utf8', start, end));
  }

  /** Returns whether the string can be cut out: no escapes, no control characters, and ASCII unless the text is large. */
  #isPlain(start: number, end: number): boolean {
    if (this.#hasBackslash(start, end)) return false;
    if (this.#hasControls && hasControls(this.#bytes.subarray(start, end))) return false;
    return this.isAscii || this.#bytes.length > manyChars || isAscii(this.#bytes.subarray(start, end));
  }

  #hasBackslash(start: number, end: number): boolean {
    if (this.#nextBackslash < start) {
      const next = this.text.indexOf('\\', start);
      this.#nextBackslash = next === -1 ? this.text.length : next;
    }
    return this.#nextBackslash < end;
  }

  #isKey(end: number): boolean {
    let next = end + 1;
    while (isSpace(this.text.charCodeAt(next))) next += 1;
    return this.text.charCodeAt(next) === chars.colon;
  }
}

function isSpace(char: number): boolean {
  return char === 32 || (char >= 9 && char <= 13);
}
