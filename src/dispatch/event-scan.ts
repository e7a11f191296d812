const keys = ['"usage"', '"finish_reason"', '"statistics"', '"stages"'];
const space = 32;
const colon = 58;
const letterN = 110;
const quote = 34;
const backslash = 92;
const contentKey = '"content":"';

/** Where the next of usage, finish_reason, statistics and stages with a value other than null stands in the bytes of events; -1 for none. */
export function nextKeyWithValue(bytes: string, from: number): number {
  let nearest = -1;
  for (const key of keys) {
    const at = nextOf(bytes, key, from);
    if (at !== -1 && (nearest === -1 || at < nearest)) nearest = at;
  }
  return nearest;
}

/** Where the first event from here ends. */
export function firstEventEnd(bytes: string, from: number): number {
  const end = bytes.indexOf('\n\n', from);
  return end === -1 ? bytes.length : end + 2;
}

/** How many bytes of text the events' `content` fragments have, near enough for an estimate. */
export function contentLength(bytes: string, from: number): number {
  let length = 0;
  for (let at = bytes.indexOf(contentKey, from); at !== -1; at = bytes.indexOf(contentKey, at)) {
    const start = at + contentKey.length;
    at = stringEnd(bytes, start);
    length += at - start;
  }
  return length;
}

function nextOf(bytes: string, key: string, from: number): number {
  for (let at = bytes.indexOf(key, from); at !== -1; at = bytes.indexOf(key, at + key.length)) {
    if (hasValue(bytes, at + key.length)) return at;
  }
  return -1;
}

/** Whether a colon and something other than null follow; a key quoted inside a string has a backslash there. */
function hasValue(bytes: string, afterKey: number): boolean {
  let at = afterKey;
  while (bytes.charCodeAt(at) === space) at += 1;
  if (bytes.charCodeAt(at) !== colon) return false;
  at += 1;
  while (bytes.charCodeAt(at) === space) at += 1;
  return bytes.charCodeAt(at) !== letterN;
}

function stringEnd(bytes: string, start: number): number {
  let at = start;
  while (at < bytes.length) {
    const code = bytes.charCodeAt(at);
    if (code === quote) return at;
    at += code === backslash ? 2 : 1;
  }
  return bytes.length;
}
