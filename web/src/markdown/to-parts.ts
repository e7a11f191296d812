import type { Token } from 'marked';

const mostBlocks = 24;
const mostChars = 1200;

/** Blocks in groups that are drawn as one. A text that grows at its end keeps its groups, but for the last. */
export function toParts(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const parts: Token[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const token of tokens) {
    const last = parts.at(-1);
    if (last === undefined || last.length >= mostBlocks || chars >= mostChars) {
      parts.push([token]);
      chars = token.raw.length;
    } else {
      last.push(token);
      chars += token.raw.length;
    }
  }
  return parts;
}
