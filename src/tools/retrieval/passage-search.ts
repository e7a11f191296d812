import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BoundedCache } from '#base/cache/bounded-cache.ts';
import { concatVectors, type TextEmbedder } from '#domain/tools/embedder.ts';
import type { IndexedDocument, PassageHit, PassageIndex, WordHit } from '#domain/tools/passage-index.ts';

/** Maximum number of hits of each search method. */
const maxHits = 30;
/**
 * Maximum number of passages with exact matches to move to the front. If more match, exact matches do not distinguish passages.
 */
const maxExactHits = 12;
/** Maximum time to create the vector of a question. After that, the search uses words only. */
const queryVectorMs = 5000;
/** Maximum number of characters of a question that is embedded. Each additional word takes about a millisecond. */
const maxQueryChars = 500;
/** Weight of the matched share of the question's words if vectors are complete. */
const matchedShareWeight = 0.6;
/** Minimum similarity of a passage. Less similar passages have another topic. */
const minSimilarity = 0.1;

export interface PassageQuery {
  readonly text: string;
  readonly documents: readonly IndexedDocument[];
  readonly embedder: TextEmbedder;
  readonly signal: AbortSignal;
}

/** A passage with a score from 0 to 1. */
export interface ScoredHit extends PassageHit {
  /**
   * The maximum of the similarity, the weighted share of matched words, and the share of matched exact terms. The weight of the
   * words is 0.6 if the vectors are complete, and 1 otherwise.
   */
  readonly score: number;
}

export interface SearchResult {
  /** Sorted, best first. */
  readonly hits: readonly ScoredHit[];
  /** Whether the vectors of all passages were searched. */
  readonly hasAllVectors: boolean;
}

/** Searches passages by words and by meaning. */
export class PassageSearch {
  readonly #index: PassageIndex;
  readonly #vectors: BoundedCache<Float32Array>;

  /** `vectors` caches the vectors of recently searched documents. */
  constructor(index: PassageIndex, vectors: BoundedCache<Float32Array>) {
    this.#index = index;
    this.#vectors = vectors;
  }

  /**
   * Searches with both methods concurrently, and merges the results. A hit by words is weighted by the share of words that match.
   * Throws `StoreError`, or the reason of the signal.
   */
  async search(query: PassageQuery): Promise<SearchResult> {
    const [wordHits, nearResult] = await Promise.all([this.searchByWords(query), this.searchByMeaning(query)]);
    const byWords = wordHits.map((hit) => ({ ...hit, weight: hit.matchedShare }));
    const byMeaning = nearResult.hits
      .filter(({ similarity }) => similarity >= minSimilarity)
      .map((hit) => ({ ...hit, weight: 1 }));
    const exact = new Map(wordHits.filter((hit) => hit.exactShare > 0).map((hit) => [getKey(hit), hit.exactShare]));
    const scores = new Map<string, number>();
    const shareWeight = nearResult.hasAllVectors ? matchedShareWeight : 1;
    for (const hit of wordHits) scores.set(getKey(hit), Math.max(shareWeight * hit.matchedShare, hit.exactShare));
    for (const hit of nearResult.hits) scores.set(getKey(hit), Math.max(hit.similarity, scores.get(getKey(hit)) ?? 0));
    const hits = fuse([byWords, byMeaning]).map((hit) => ({ ...hit, score: scores.get(getKey(hit)) ?? 0 }));
    return { hits: exact.size <= maxExactHits ? rankExactFirst(hits, exact) : hits, hasAllVectors: nearResult.hasAllVectors };
  }

  searchByWords({ text, documents }: PassageQuery): Promise<readonly WordHit[]> {
    const ids = documents.map(({ id }) => id);
    return this.#index.searchWords(text, ids, maxHits);
  }

  /** Returns no hits if there are no vectors yet, or the question cannot be embedded. */
  async searchByMeaning(query: PassageQuery): Promise<{ hits: readonly NearHit[]; hasAllVectors: boolean }> {
    const { text, documents, embedder, signal } = query;
    let nearest: NearestPassages | undefined;
    let hasAllVectors = documents.length > 0;
    // One document after the other, because the vectors of all of them may not fit into memory.
    for (const document of documents) {
      const vectors = await this.#readVectors(document, embedder.model);
      if (vectors.length > 0 && nearest === undefined) {
        const queryVector = await embed(text, embedder, signal);
        if (queryVector === undefined) return { hits: [], hasAllVectors: false };
        nearest = new NearestPassages(queryVector, maxHits);
      }
      hasAllVectors &&= vectors.length === document.passageCount * (nearest?.dimensions ?? 1);
      await nearest?.scan(document.id, vectors);
    }
    return nearest === undefined ? { hits: [], hasAllVectors: false } : { hits: nearest.hits, hasAllVectors };
  }

  /**
   * Returns the concatenated vectors of a document, starting at its first passage. The array is shorter while vectors are being
   * created. Complete arrays are cached.
   */
  async #readVectors({ id, passageCount }: IndexedDocument, model: string): Promise<Float32Array> {
    const key = `${id} ${model}`;
    const cached = this.#vectors.find(key);
    if (cached !== undefined) return cached;
    const vectorRuns = await this.#index.readVectors({ document: id, model });
    const vectors = concatVectors(vectorRuns.map((run) => run.vectors));
    if (vectorRuns.reduce((sum, run) => sum + run.count, 0) === passageCount) this.#vectors.set(key, vectors);
    return vectors;
  }
}

function getKey({ document, nth }: PassageHit): string {
  return `${document} ${nth}`;
}

/** Moves exact matches to the front, because a user who names an exact term wants that passage. */
function rankExactFirst(hits: readonly ScoredHit[], exact: ReadonlyMap<string, number>): readonly ScoredHit[] {
  if (exact.size === 0) return hits;
  return hits.toSorted((first, second) => (exact.get(getKey(second)) ?? 0) - (exact.get(getKey(first)) ?? 0));
}

async function embed(text: string, embedder: TextEmbedder, signal: AbortSignal): Promise<Float32Array | undefined> {
  try {
    const [vector] = await embedder.embed(
      [text.slice(0, maxQueryChars).toWellFormed()],
      AbortSignal.any([signal, AbortSignal.timeout(queryVectorMs)]),
    );
    return vector;
  } catch {
    // Continues with the words only.
    signal.throwIfAborted();
    return undefined;
  }
}

/**
 * Smoothing constant of the rank fusion. A larger value reduces the advantage of the first ranks. Measured with the weights on
 * the golden set (docs/retrieval.md).
 */
const smoothing = 20;

/** A hit of one search method. */
interface WeightedHit extends PassageHit {
  /** Weight of the hit, from 0 to 1. */
  readonly weight: number;
}

/** Merges lists by weighted reciprocal rank fusion. Passages with high ranks in several lists come first. */
function fuse(lists: readonly (readonly WeightedHit[])[]): PassageHit[] {
  const scores = new Map<string, { readonly hit: PassageHit; score: number }>();
  for (const list of lists) {
    for (const [rank, { document, nth, weight }] of list.entries()) {
      const hit = { document, nth };
      const key = getKey(hit);
      const entry = scores.get(key) ?? { hit, score: 0 };
      entry.score += weight / (smoothing + rank + 1);
      scores.set(key, entry);
    }
  }
  return [...scores.values()].sort((first, second) => second.score - first.score).map(({ hit }) => hit);
}

/** Number of vector components to process before yielding to the event loop. They take about a millisecond. */
const componentsPerTurn = 1_000_000;

interface NearHit extends PassageHit {
  /** Cosine similarity, from -1 to 1. */
  readonly similarity: number;
}

/** Returns the dot product of a vector and the one at `from`. Four separate sums take half the time of one. */
function dot(vector: Float32Array, vectors: Float32Array, from: number): number {
  let first = 0;
  let second = 0;
  let third = 0;
  let fourth = 0;
  const unrolledLength = vector.length - (vector.length % 4);
  for (let index = 0; index < unrolledLength; index += 4) {
    first += (vector[index] as number) * (vectors[from + index] as number);
    second += (vector[index + 1] as number) * (vectors[from + index + 1] as number);
    third += (vector[index + 2] as number) * (vectors[from + index + 2] as number);
    fourth += (vector[index + 3] as number) * (vectors[from + index + 3] as number);
  }
  for (let index = unrolledLength; index < vector.length; index += 1)
    first += (vector[index] as number) * (vectors[from + index] as number);
  return first + second + third + fourth;
}

/** Finds the passages whose vectors are most similar to the vector of a question. */
class NearestPassages {
  /** Sorted, best first. */
  readonly hits: NearHit[] = [];
  readonly #queryVector: Float32Array;
  readonly #limit: number;
  #minSimilarity = Number.NEGATIVE_INFINITY;
  /** Number of components since the last yield to the event loop. */
  #scannedComponents = 0;

  constructor(queryVector: Float32Array, limit: number) {
    this.#queryVector = queryVector;
    this.#limit = limit;
  }

  get dimensions(): number {
    return this.#queryVector.length;
  }

  /** Searches the concatenated vectors of a document. Yields to the event loop. */
  async scan(document: string, vectors: Float32Array): Promise<void> {
    const queryVector = this.#queryVector;
    const { dimensions } = this;
    const count = Math.floor(vectors.length / dimensions);
    for (let index = 0; index < count; index += 1) {
      const similarity = dot(queryVector, vectors, index * dimensions);
      if (similarity > this.#minSimilarity) this.#add({ document, nth: index, similarity });
      this.#scannedComponents += dimensions;
      if (this.#scannedComponents < componentsPerTurn) continue;
      this.#scannedComponents = 0;
      await nextTurn();
    }
  }

  #add(hit: NearHit): void {
    const position = this.hits.findIndex(({ similarity }) => similarity < hit.similarity);
    this.hits.splice(position === -1 ? this.hits.length : position, 0, hit);
    if (this.hits.length > this.#limit) this.hits.pop();
    if (this.hits.length === this.#limit) this.#minSimilarity = this.hits.at(-1)?.similarity ?? this.#minSimilarity;
  }
}
