const lastCodePoint = 0x10ffff;
const surrogates = { first: 0xd800, last: 0xdfff };

/** The first text, by code points, that sorts after all texts with the prefix; undefined if there is none. */
export function behindPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === lastCodePoint) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  const next = last + 1 === surrogates.first ? surrogates.last + 1 : last + 1;
  return String.fromCodePoint(...points, next);
}
