/** Returns a regular expression source that matches exactly this text, with and without the `u` flag. */
export function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

/**
 * Maximum length of a part for `indexOf` of V8, which takes linear time up to here. Beyond it, the time can grow with the product
 * of both lengths: 6 s for 8,000 characters in a million.
 */
const maxNativeChars = 250;

/**
 * Returns the index of the first occurrence of `part` at or after `from`, or -1. Use it instead of `indexOf` and `includes` if both
 * texts come from outside, because it takes linear time.
 */
export function findText(text: string, part: string, from = 0): number {
  if (part.length <= maxNativeChars) return text.indexOf(part, from);
  // The algorithm of Knuth, Morris, and Pratt. `borders` has, by length of a start of the part, the longest shorter start at its end.
  const borders = new Uint32Array(part.length + 1);
  const countMatched = (matched: number, char: number): number => {
    let length = matched;
    while (length > 0 && part.charCodeAt(length) !== char) length = borders[length] as number;
    return part.charCodeAt(length) === char ? length + 1 : length;
  };
  for (let length = 1; length < part.length; length += 1)
    borders[length + 1] = countMatched(borders[length] as number, part.charCodeAt(length));
  for (let index = from, matched = 0; index < text.length; index += 1) {
    matched = countMatched(matched, text.charCodeAt(index));
    if (matched === part.length) return index + 1 - part.length;
  }
  return -1;
}

/** Returns the text with a replacement for each occurrence of `part`, which must not be empty. */
export function replaceText(text: string, part: string, replacement: string): string {
  let result = '';
  let end = 0;
  for (let at = findText(text, part); at !== -1; at = findText(text, part, end)) {
    result += text.slice(end, at) + replacement;
    end = at + part.length;
  }
  return result + text.slice(end);
}
