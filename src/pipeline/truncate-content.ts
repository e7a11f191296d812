import { isJsonObject, isWrittenNumber, type JsonObject } from '#base/json/json.ts';

/** Maximum number of characters that are stored of an inline file. */
const maxInlineChars = 64;
/** Number of bytes that count for a number, a boolean, or the punctuation of an item. */
const itemBytes = 6;

export interface TruncatedContent {
  readonly content: JsonObject;
  readonly isTruncated: boolean;
}

/**
 * Returns a copy of JSON content that has about `maxBytes`. Reads no more of the content than it copies. In lists, the last items
 * are kept, because the latest messages matter most. A mark replaces text and items that are left out. Data URLs are truncated
 * to their start.
 */
export function truncateContent(content: JsonObject, maxBytes: number): TruncatedContent {
  const truncation = new Truncation(maxBytes);
  return { content: truncation.copyObject(content), isTruncated: truncation.isTruncated };
}

class Truncation {
  isTruncated = false;
  readonly #maxTextBytes: number;
  #bytesLeft: number;

  /** One text takes at most half of the bytes, so that an attachment does not displace the text next to it. */
  constructor(maxBytes: number) {
    this.#bytesLeft = maxBytes;
    this.#maxTextBytes = Math.ceil(maxBytes / 2);
  }

  /** Copies plain values before lists and objects, and messages before other lists such as tools. */
  copyObject(source: JsonObject): JsonObject {
    const copy: JsonObject = {};
    const nested: string[] = [];
    for (const key in source) {
      const value = source[key];
      if (value === undefined || key === '__proto__') continue;
      if (typeof value === 'object' && value !== null && !isWrittenNumber(value)) nested.push(key);
      else if (!this.#consume(key.length)) return copy;
      else copy[key] = this.#copy(value);
    }
    if (nested.includes('messages')) nested.sort((first, second) => Number(second === 'messages') - Number(first === 'messages'));
    for (const key of nested) {
      if (!this.#consume(key.length)) break;
      copy[key] = this.#copy(source[key]);
    }
    return copy;
  }

  #copy(value: unknown): unknown {
    if (typeof value === 'string') return this.#copyText(value);
    if (Array.isArray(value)) return this.#copyList(value);
    return isJsonObject(value) && !isWrittenNumber(value) ? this.copyObject(value) : value;
  }

  #copyList(list: readonly unknown[]): unknown[] {
    const copy: unknown[] = [];
    for (let index = list.length - 1; index >= 0; index -= 1) {
      if (!this.#consume(0)) {
        copy.push(`[${index + 1} items truncated]`);
        break;
      }
      copy.push(this.#copy(list[index]));
    }
    return copy.reverse();
  }

  #copyText(text: string): string {
    const isInline = text.length > maxInlineChars && text.startsWith('data:');
    const maxBytes = isInline ? maxInlineChars : Math.min(this.#bytesLeft, this.#maxTextBytes);
    const isLonger = text.length > maxBytes || Buffer.byteLength(text) > maxBytes;
    const part = isLonger
      ? Buffer.from(text.slice(0, maxBytes))
          .subarray(0, maxBytes)
          .toString()
          .replace(/\ufffd$/, '')
      : text;
    this.#bytesLeft -= Buffer.byteLength(part);
    if (!isLonger) return text;
    this.isTruncated = true;
    return `${part}[${text.length - part.length} characters truncated]`;
  }

  /** Returns whether bytes are left for an item. */
  #consume(bytes: number): boolean {
    this.#bytesLeft -= bytes + itemBytes;
    if (this.#bytesLeft > 0) return true;
    this.#bytesLeft = 0;
    this.isTruncated = true;
    return false;
  }
}
