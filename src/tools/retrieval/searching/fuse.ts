import type { PassageHit } from '#domain/tools/passage-index.ts';

/** The larger, the less the first ranks stand out. With the weights measured on the golden set (docs/retrieval.md). */
const smoothing = 20;

/** A passage that was found one way. */
export interface WeightedHit extends PassageHit {
  /** How much this finding counts: from 0 to 1. */
  readonly weight: number;
}

/** Joins lists by weighted reciprocal rank: what stands high in several comes first. */
export function fuse(lists: readonly (readonly WeightedHit[])[]): PassageHit[] {
  const scores = new Map<string, { readonly hit: PassageHit; score: number }>();
  for (const list of lists) {
    for (const [rank, { document, nth, weight }] of list.entries()) {
      const name = `${document} ${nth}`;
      const known = scores.get(name) ?? { hit: { document, nth }, score: 0 };
      known.score += weight / (smoothing + rank + 1);
      scores.set(name, known);
    }
  }
  return [...scores.values()].sort((one, other) => other.score - one.score).map(({ hit }) => hit);
}
