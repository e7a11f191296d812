import { findStringEnd } from '../text/string-end.ts';
import { chars, parseJson } from './json.ts';

/** An open object or array. */
interface OpenContainer {
  /** Keys of the object up to now. Undefined for an array. */
  readonly keys: Set<string> | undefined;
  /** Current key or index. */
  at: string | number;
  expectsKey: boolean;
}

/**
 * Returns the path of the first key that occurs twice in one object, or undefined if there is none. Parsers differ: some use the
 * first value, others the last. The text must be valid JSON.
 */
export function findDuplicateKey(text: string): readonly (string | number)[] | undefined {
  const open: OpenContainer[] = [];
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charCodeAt(index);
    if (char < chars.quote) continue;
    switch (char) {
      case chars.opening:
        open.push({ keys: new Set(), at: '', expectsKey: true });
        break;
      case chars.openingList:
        open.push({ keys: undefined, at: 0, expectsKey: false });
        break;
      case chars.closing:
      case chars.closingList:
        open.pop();
        break;
      case chars.comma:
        advance(open.at(-1));
        break;
      case chars.quote: {
        const end = findStringEnd(text, index + 1);
        const inner = open.at(-1);
        if (inner?.expectsKey && !addKey(inner, text.slice(index, end + 1))) return open.map((container) => container.at);
        index = end;
      }
    }
  }
  return undefined;
}

function advance(inner: OpenContainer | undefined): void {
  if (inner === undefined) return;
  if (typeof inner.at === 'number') inner.at += 1;
  else inner.expectsKey = true;
}

/** Returns whether the key is new in its object. */
function addKey(inner: OpenContainer, quotedKey: string): boolean {
  const key = quotedKey.includes('\\') ? String(parseJson(quotedKey)) : quotedKey.slice(1, -1);
  inner.at = key;
  inner.expectsKey = false;
  if (inner.keys?.has(key)) return false;
  inner.keys?.add(key);
  return true;
}
