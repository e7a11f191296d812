const [quote, backslash] = [34, 92];
/** If matches are closer together than this many characters, a loop over all characters is faster than a search for each. */
const denseChars = 8;

/** Returns the index of the closing quote of a JSON string, or the length of the text. `start` is inside the string. */
export function findStringEnd(text: string, start: number): number {
  let at = text.indexOf('"', start);
  for (let searches = 1; at !== -1 && text.charCodeAt(at - 1) === backslash && isEscaped(text, at); searches += 1) {
    if (searches > denseChars && at - start < searches * denseChars) return walkToEnd(text, at + 1);
    at = text.indexOf('"', at + 1);
  }
  return at === -1 ? text.length : at;
}

/** Counts the escapes in a part of a JSON string. `start` must not be inside an escape. */
export function countEscapes(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = nextBackslash(text, start); at !== -1 && at < end; at = nextBackslash(text, at + 2)) count += 1;
  return count;
}

function nextBackslash(text: string, start: number): number {
  for (let at = start; at < start + denseChars; at += 1) if (text.charCodeAt(at) === backslash) return at;
  return text.indexOf('\\', start + denseChars);
}

function walkToEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === quote) return at;
    if (char === backslash) at += 1;
  }
  return text.length;
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === backslash) before -= 1;
  return (at - before) % 2 === 0;
}
