import type { BoundedCache } from '#base/bounded-cache.ts';
import type { IndexedDocument, PassageHit, PassageIndex, WordHit } from '#domain/tools/passage-index.ts';
import type { TextEmbedder } from '../text-embedder.ts';
import { fuse } from './fuse.ts';
import { type NearHit, nearest } from './nearest.ts';
import { VectorCache } from './vector-cache.ts';

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
