/** Returns the candidate that is closest to a misspelled word, or undefined if none is close. Ignores case, `_`, and `-`. */
export function findNearest(word: string, candidates: Iterable<string>): string | undefined {
  const normalizedWord = normalize(word);
  let best: string | undefined;
  let bestDistance = Math.floor(normalizedWord.length / 3) + 1;
  for (const candidate of candidates) {
    const distance = computeEditDistance(normalizedWord, normalize(candidate), bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Returns the message for a name that is not configured. `kind` is a noun with its article, such as `a role`. */
export function describeUnconfigured(
  kind: string,
  name: string,
  candidates: Iterable<string>,
): { readonly message: string; readonly hint?: string } {
  return {
    message: `names ${JSON.stringify(name.slice(0, 200))}, ${kind} that is not configured`,
    ...didYouMean(name, candidates),
  };
}

/** Returns the hint for a misspelled word, or an empty object if no candidate is close. A set must not change afterward. */
export function didYouMean(word: string, candidates: Iterable<string>): { readonly hint?: string } {
  const suggestion = candidates instanceof Set ? findNearestInSet(word, candidates) : findNearest(word, candidates);
  return suggestion === undefined ? {} : { hint: `did you mean ${suggestion}?` };
}

/** Maximum number of different words that are compared with one set. A larger number of unknown names is not a misspelling. */
const maxWords = 100;
const suggestionsBySet = new WeakMap<ReadonlySet<string>, Map<string, string | undefined>>();

/** Like `findNearest`, but compares each word with a set only once, because thousands of entries can have the same unknown name. */
function findNearestInSet(word: string, candidates: ReadonlySet<string>): string | undefined {
  const suggestions = suggestionsBySet.get(candidates) ?? new Map<string, string | undefined>();
  suggestionsBySet.set(candidates, suggestions);
  if (!suggestions.has(word) && suggestions.size < maxWords) suggestions.set(word, findNearest(word, candidates));
  return suggestions.get(word);
}

function normalize(word: string): string {
  return word.slice(0, 100).toLowerCase().replaceAll(/[_-]/g, '');
}

/**
 * Returns the number of letters to insert, delete, replace, or swap with the next one (optimal string alignment). The maximum is
 * `bound`.
 */
function computeEditDistance(from: string, to: string, bound: number): number {
  if (Math.abs(from.length - to.length) >= bound) return bound;
  let before: readonly number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line++) {
    const next = [line];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (from[line - 1] === to[column - 1] ? 0 : 1);
      const isSwapped = from[line - 1] === to[column - 2] && from[line - 2] === to[column - 1];
      const swapped = isSwapped ? (before[column - 2] ?? 0) + 1 : bound;
      next.push(Math.min(replaced, swapped, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return Math.min(row[to.length] ?? bound, bound);
}
