/** A border this far into the room, or further, is near enough. */
const leastShare = 1 / 2;
const opensJson = /^\s*[[{]/;

/** The longest beginning of a text, in UTF-8 at most so many bytes, that ends where something ends: a part of JSON, the less nested the better; else a line, else a word. */
export function cutText(text: string, maxBytes: number): string {
  const kept = firstBytes(text, maxBytes);
  if (kept.length === text.length) return text;
  const least = Math.floor(kept.length * leastShare);
  const end =
    (opensJson.test(kept) ? endOfPart(kept, least) : undefined) ?? endAfter(kept, '\n', least) ?? endAfter(kept, ' ', least);
  return kept.slice(0, end);
}

/** Characters are never halved. */
function firstBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const beginning = text.slice(0, maxBytes);
  const bytes = Buffer.from(beginning, 'utf8');
  if (bytes.length <= maxBytes) return beginning.isWellFormed() ? beginning : beginning.slice(0, -1);
  return new TextDecoder('utf-8').decode(bytes.subarray(0, maxBytes), { stream: true });
}

function endAfter(text: string, sign: string, least: number): number | undefined {
  const at = text.lastIndexOf(sign);
  return at + 1 > least ? at + 1 : undefined;
}

/** Behind the last comma that is nested least deeply, of those that are far enough; undefined if there is none. */
function endOfPart(json: string, least: number): number | undefined {
  const lastByDepth: number[] = [];
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at];
    if (isInText) {
      if (sign === '\\') at += 1;
      else if (sign === '"') isInText = false;
    } else if (sign === '"') isInText = true;
    else if (sign === '{' || sign === '[') depth += 1;
    else if (sign === '}' || sign === ']') depth -= 1;
    else if (sign === ',' && at >= least && depth >= 0) lastByDepth[depth] = at + 1;
  }
  return lastByDepth.find((end) => end !== undefined);
}
