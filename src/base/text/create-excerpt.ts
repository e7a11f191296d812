const usualChars = 160;
const charsBefore = 40;
// Pattern bound: linear. Inside a run of asterisks, the next asterisk is not a space, so every search succeeds.
/** Marks of Markdown that say nothing in a line by itself. */
const markup = /(?<!\w)\*+(?=\S)|(?<=\S)\*+(?!\w)|`+|^#+ /gm;

/**
 * A line of a text around a place where words stand, as many different ones as can be; undefined where none of them stands in
 * it. `words` are in lower case.
 */
export function createExcerpt(text: string, words: readonly string[], chars = usualChars): string | undefined {
  const plain = text.replace(markup, '');
  const lower = plain.toLowerCase();
  const positions = words.map((word) => lower.indexOf(word)).filter((position) => position >= 0);
  const [first] = positions.toSorted(
    (left, right) => countWithin(positions, right, chars) - countWithin(positions, left, chars) || left - right,
  );
  if (first === undefined) return undefined;
  const from = findWordStart(plain, Math.max(0, first - charsBefore), first);
  const to = Math.min(plain.length, from + chars);
  const line = plain.slice(from, to).replace(/\s+/g, ' ').trim();
  return `${from > 0 ? '…' : ''}${line}${to < plain.length ? '…' : ''}`;
}

function countWithin(positions: readonly number[], from: number, chars: number): number {
  return positions.filter((position) => position >= from && position < from + chars - charsBefore).length;
}

/** Where the first word between two places begins. */
function findWordStart(text: string, from: number, to: number): number {
  if (from === 0) return 0;
  const gap = text.slice(from, to).search(/\s/);
  return gap < 0 ? to : from + gap + 1;
}

/** The same of the first of several texts that has as many of the words as any. */
export function createExcerptOfTexts(texts: readonly string[], words: readonly string[]): string | undefined {
  const best = texts[findBest(texts, words)];
  return best === undefined ? undefined : createExcerpt(best, words);
}

/** Which of several texts is the first with as many of the words as any; -1 where none of them stands in any. */
export function findBest(texts: readonly string[], words: readonly string[]): number {
  const counts = texts.map((text) => {
    const lower = text.toLowerCase();
    return words.filter((word) => lower.includes(word)).length;
  });
  const maxCount = Math.max(0, ...counts);
  return maxCount === 0 ? -1 : counts.indexOf(maxCount);
}
