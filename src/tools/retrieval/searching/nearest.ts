import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PassageHit } from '#domain/tools/passage-index.ts';

/** Numbers looked at before others get a turn: about a millisecond. */
const numbersAtOnce = 1_000_000;

/** Vectors of a document, one behind the other. */
export interface VectorSet {
  readonly document: string;
  readonly vectors: Float32Array;
}

export interface NearHit extends PassageHit {
  /** From -1 to 1. */
  readonly similarity: number;
}

/** The passages whose vectors are nearest to that of a question, best first. Streams go on meanwhile. */
export async function nearest(asked: Float32Array, sets: readonly VectorSet[], limit: number): Promise<NearHit[]> {
  const best = new Best(limit);
  let looked = 0;
  for (const { document, vectors } of sets) {
    const count = Math.floor(vectors.length / asked.length);
    for (let nth = 0; nth < count; nth += 1) {
      const similarity = dot(asked, vectors, nth * asked.length);
      if (similarity > best.least) best.add({ document, nth, similarity });
      looked += asked.length;
      if (looked < numbersAtOnce) continue;
      looked = 0;
      await nextTurn();
    }
  }
  return best.hits;
}

/** Four sums at once take half the time of one. */
function dot(one: Float32Array, many: Float32Array, from: number): number {
  let first = 0;
  let second = 0;
  let third = 0;
  let fourth = 0;
  const even = one.length - (one.length % 4);
  for (let at = 0; at < even; at += 4) {
    first += (one[at] as number) * (many[from + at] as number);
    second += (one[at + 1] as number) * (many[from + at + 1] as number);
    third += (one[at + 2] as number) * (many[from + at + 2] as number);
    fourth += (one[at + 3] as number) * (many[from + at + 3] as number);
  }
  for (let at = even; at < one.length; at += 1) first += (one[at] as number) * (many[from + at] as number);
  return first + second + third + fourth;
}

class Best {
  readonly hits: NearHit[] = [];
  least = Number.NEGATIVE_INFINITY;
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(hit: NearHit): void {
    const place = this.hits.findIndex(({ similarity }) => similarity < hit.similarity);
    this.hits.splice(place === -1 ? this.hits.length : place, 0, hit);
    if (this.hits.length > this.#limit) this.hits.pop();
    if (this.hits.length === this.#limit) this.least = this.hits.at(-1)?.similarity ?? this.least;
  }
}
