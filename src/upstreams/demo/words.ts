const wordPattern = /[\p{L}\p{N}]+/gu;
const stemLength = 5;
const minWordLength = 4;
const commonWords = new Set(
  'what when where which that this with from have does will would could should about into than then them they there your please tell show give make some want need like know much many more very just also only'.split(
    ' ',
  ),
);

/** Returns the stems of the significant words of a text, so that `translates` matches `translate`. */
export function listStems(text: string): Set<string> {
  const words = text.toLowerCase().match(wordPattern) ?? [];
  return new Set(
    words.filter((word) => word.length >= minWordLength && !commonWords.has(word)).map((word) => word.slice(0, stemLength)),
  );
}

export function countShared(first: ReadonlySet<string>, second: ReadonlySet<string>): number {
  let shared = 0;
  for (const stem of first) if (second.has(stem)) shared += 1;
  return shared;
}

export function countWords(text: string): number {
  return text.match(wordPattern)?.length ?? 0;
}

/**
 * Shortens the text to at most `maxChars` characters, including the ellipsis of a truncated text. `truncate` adds the ellipsis to
 * the maximum, which would exceed the bound of a pattern in plan-answer.ts.
 */
export function shorten(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).trimEnd()}…`;
}
