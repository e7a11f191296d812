import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BoundedCache } from '#base/cache/bounded-cache.ts';
import type { IndexedDocument, PassageHit, PassageIndex, VectorKey, WordHit } from '#domain/tools/passage-index.ts';
import type { TextEmbedder } from '../deployment-embedder.ts';

/** Of each list, before they are joined. */
const listed = 30;
/** What more passages have than this tells nothing about any of them. */
const mostNamed = 12;
/** A question's vector that takes longer is done without. */
const vectorMs = 5000;
/** Characters of a question that its vector is made of: each word more costs a millisecond. */
const longestAsked = 500;
/** What a share of the question's words is worth where meaning tells more. */
const shareBesideMeaning = 0.6;
/** A passage that is not nearer than this is about something else. */
const leastSimilarity = 0.1;

export interface PassageQuery {
  readonly text: string;
  readonly documents: readonly IndexedDocument[];
  readonly embedder: TextEmbedder;
  readonly signal: AbortSignal;
}

/** A passage that was found, and how well it fits: from 0 to 1. */
export interface ScoredHit extends PassageHit {
  /** The most of its nearness to the question, its share of the question's words (six tenths of that where there are vectors), and its share of what the question names exactly. */
  readonly score: number;
}

export interface Found {
  /** Best first. */
  readonly hits: readonly ScoredHit[];
  /** Whether the vectors of all passages were searched. */
  readonly byMeaning: boolean;
}

/** Finds passages by their words and by what they mean. */
export class PassageSearch {
  readonly #index: PassageIndex;
  readonly #vectors: VectorCache;

  /** `vectors`: of the documents asked for last. */
  constructor(index: PassageIndex, vectors: BoundedCache<Float32Array>) {
    this.#index = index;
    this.#vectors = new VectorCache(index, vectors);
  }

  /** Both ways at once, joined: what words find counts by the share of the question's words that it has. Throws StoreFault, the signal's reason. */
  async search(query: PassageQuery): Promise<Found> {
    const [words, near] = await Promise.all([this.byWords(query), this.byMeaning(query)]);
    const byWords = words.map((hit) => ({ ...hit, weight: hit.share }));
    const byMeaning = near.hits.filter(({ similarity }) => similarity >= leastSimilarity).map((hit) => ({ ...hit, weight: 1 }));
    const exact = new Map(words.filter((hit) => hit.exact > 0).map((hit) => [nameOf(hit), hit.exact]));
    const scores = new Map<string, number>();
    const worth = near.isWhole ? shareBesideMeaning : 1;
    for (const hit of words) scores.set(nameOf(hit), Math.max(worth * hit.share, hit.exact));
    for (const hit of near.hits) scores.set(nameOf(hit), Math.max(hit.similarity, scores.get(nameOf(hit)) ?? 0));
    const hits = fuse([byWords, byMeaning]).map((hit) => ({ ...hit, score: scores.get(nameOf(hit)) ?? 0 }));
    return { hits: exact.size <= mostNamed ? namedFirst(hits, exact) : hits, byMeaning: near.isWhole };
  }

  byWords({ text, documents }: PassageQuery): Promise<readonly WordHit[]> {
    return this.#index.searchWords(
      text,
      documents.map(({ id }) => id),
      listed,
    );
  }

  /** None if there are no vectors yet, or the question gets none. */
  async byMeaning({ text, documents, embedder, signal }: PassageQuery): Promise<{ hits: readonly NearHit[]; isWhole: boolean }> {
    const sets = await Promise.all(
      documents.map(async (document) => {
        return { document: document.id, passages: document.passages, vectors: await this.#vectors.get(document, embedder.model) };
      }),
    );
    if (sets.every(({ vectors }) => vectors.length === 0)) return { hits: [], isWhole: false };
    const asked = await embed(text, embedder, signal);
    if (asked === undefined) return { hits: [], isWhole: false };
    const isWhole = sets.every(({ passages, vectors }) => vectors.length === passages * asked.length);
    return { hits: await nearest(asked, sets, listed), isWhole };
  }
}

function nameOf({ document, nth }: PassageHit): string {
  return `${document} ${nth}`;
}

/** Whoever names something exactly wants that, whatever else is near. */
function namedFirst(hits: readonly ScoredHit[], exact: ReadonlyMap<string, number>): readonly ScoredHit[] {
  if (exact.size === 0) return hits;
  return hits.toSorted((one, other) => (exact.get(nameOf(other)) ?? 0) - (exact.get(nameOf(one)) ?? 0));
}

async function embed(text: string, embedder: TextEmbedder, signal: AbortSignal): Promise<Float32Array | undefined> {
  try {
    const [vector] = await embedder.embed(
      [text.slice(0, longestAsked)],
      AbortSignal.any([signal, AbortSignal.timeout(vectorMs)]),
    );
    return vector;
  } catch {
    // The words are enough to go on with.
    signal.throwIfAborted();
    return undefined;
  }
}

/** The larger, the less the first ranks stand out. With the weights measured on the golden set (docs/retrieval.md). */
const smoothing = 20;

/** A passage that was found one way. */
interface WeightedHit extends PassageHit {
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

/** Numbers looked at before others get a turn: about a millisecond. */
const numbersAtOnce = 1_000_000;

/** Vectors of a document, one behind the other. */
interface VectorSet {
  readonly document: string;
  readonly vectors: Float32Array;
}

interface NearHit extends PassageHit {
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

/** Vectors of the documents asked for last. */
export class VectorCache {
  readonly #index: PassageIndex;
  readonly #whole: BoundedCache<Float32Array>;

  constructor(index: PassageIndex, whole: BoundedCache<Float32Array>) {
    this.#index = index;
    this.#whole = whole;
  }

  /** The vectors of a document, one behind the other from its first passage on; fewer than it has passages while they are being made. */
  async get({ id, passages }: IndexedDocument, model: string): Promise<Float32Array> {
    const name = `${id} ${model}`;
    const kept = this.#whole.find(name);
    if (kept !== undefined) return kept;
    const { vectors, count } = await this.#read({ document: id, model });
    if (count === passages) this.#whole.set(name, vectors);
    return vectors;
  }

  async #read(key: VectorKey): Promise<{ vectors: Float32Array; count: number }> {
    const runs = await this.#index.vectors(key);
    const vectors = new Float32Array(runs.reduce((sum, run) => sum + run.vectors.length, 0));
    let at = 0;
    for (const run of runs) {
      vectors.set(run.vectors, at);
      at += run.vectors.length;
    }
    return { vectors, count: runs.reduce((sum, run) => sum + run.count, 0) };
  }
}
