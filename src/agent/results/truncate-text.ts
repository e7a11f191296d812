/** A boundary is acceptable if it keeps more than this fraction of the maximum length. */
const minFraction = 1 / 2;
const opensJson = /^\s*[[{]/;

/**
 * Truncates a text to at most `maxBytes` of UTF-8. Ends at a boundary if one is close enough: after the least nested JSON
 * value, otherwise after a line, otherwise after a word.
 */
export function truncateText(text: string, maxBytes: number): string {
  const truncated = truncateBytes(text, maxBytes);
  if (truncated.length === text.length) return text;
  const minEnd = Math.floor(truncated.length * minFraction);
  const end =
    (opensJson.test(truncated) ? findPartEnd(truncated, minEnd) : undefined) ??
    findEndAfter(truncated, '\n', minEnd) ??
    findEndAfter(truncated, ' ', minEnd);
  return truncated.slice(0, end);
}

/** Truncates without splitting a character. */
function truncateBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const prefix = text.slice(0, maxBytes);
  const bytes = Buffer.from(prefix, 'utf8');
  if (bytes.length <= maxBytes) return prefix.isWellFormed() ? prefix : prefix.slice(0, -1);
  return new TextDecoder('utf-8').decode(bytes.subarray(0, maxBytes), { stream: true });
}

function findEndAfter(text: string, separator: string, minEnd: number): number | undefined {
  const index = text.lastIndexOf(separator);
  return index + 1 > minEnd ? index + 1 : undefined;
}

/** Returns the position after the last comma at the lowest nesting depth from `minEnd` on, or undefined. */
function findPartEnd(json: string, minEnd: number): number | undefined {
  const lastEndByDepth: number[] = [];
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index];
    if (isInString) {
      if (character === '\\') index += 1;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    else if (character === ',' && index >= minEnd && depth >= 0) lastEndByDepth[depth] = index + 1;
  }
  return lastEndByDepth.find((end) => end !== undefined);
}
