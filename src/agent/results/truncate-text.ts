/** A border this far into the room, or further, is near enough. */
const minFraction = 1 / 2;
const opensJson = /^\s*[[{]/;

/** The longest beginning of a text, in UTF-8 at most so many bytes, that ends where something ends: a part of JSON, the less nested the better; else a line, else a word. */
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

/** Characters are never halved. */
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

/** Behind the last comma that is nested least deeply, of those that are far enough; undefined if there is none. */
function findPartEnd(json: string, minEnd: number): number | undefined {
  const lastByDepth: number[] = [];
  let depth = 0;
  let isInText = false;
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index];
    if (isInText) {
      if (character === '\\') index += 1;
      else if (character === '"') isInText = false;
    } else if (character === '"') isInText = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    else if (character === ',' && index >= minEnd && depth >= 0) lastByDepth[depth] = index + 1;
  }
  return lastByDepth.find((end) => end !== undefined);
}
