import { describe, expect, it } from 'vitest';
import { BoundedCache } from '#base/cache/bounded-cache.ts';
import type { IndexedDocument, PassageIndex, VectorRun, WordHit } from '#domain/tools/passage-index.ts';
import { PassageSearch } from './passage-search.ts';

const { signal } = new AbortController();

function createDocument(id: string, passageCount = 1): IndexedDocument {
  return { id, title: '', format: 'txt', passageCount, tokenCount: 0, note: undefined, failure: undefined };
}

function createEmbedder(queryVector: Float32Array = Float32Array.of(1), model = 'm') {
  const embedded: string[] = [];
  const embed = async (texts: readonly string[]): Promise<Float32Array[]> => {
    embedded.push(...texts);
    return [queryVector];
  };
  return { embedded, model, embed };
}

interface SearchDeps extends Partial<Pick<PassageIndex, 'readVectors'>> {
  readonly wordHits?: readonly WordHit[];
  readonly maxBytes?: number;
}

function createSearch({ readVectors = async () => [], wordHits = [], maxBytes = 0 }: SearchDeps): PassageSearch {
  const index: Partial<PassageIndex> = { readVectors, searchWords: async () => wordHits };
  return new PassageSearch(
    index as PassageIndex,
    new BoundedCache<Float32Array>({ maxBytes, countBytes: ({ byteLength }) => byteLength }),
  );
}

function toRun(first: number, ...values: number[]): VectorRun {
  return { first, count: values.length, vectors: Float32Array.from(values) };
}

describe('search', () => {
  const toWordHit = (nth: number, matchedShare = 1): WordHit => ({ document: 'd', nth, matchedShare, exactShare: 0 });

  /** Returns the indexes of the found passages. `similarities` belong to the passages of the documents `d` and `e`. */
  async function search(wordHits: readonly WordHit[], similarities: Record<string, readonly number[]>) {
    const readVectors: PassageIndex['readVectors'] = async ({ document }) => [toRun(0, ...(similarities[document] ?? []))];
    const documents = Object.entries(similarities).map(([id, { length }]) => createDocument(id, length));
    const found = createSearch({ readVectors, wordHits });
    return (await found.search({ text: 'q', documents, embedder: createEmbedder(), signal })).hits;
  }

  it('ranks passages first that have high ranks in both methods', async () => {
    const hits = await search([toWordHit(1), toWordHit(2), toWordHit(3)], { d: [0, 0, 0.5, 0, 0, 0, 0, 0, 0, 0.9] });
    expect(hits.map(({ nth }) => nth)).toEqual([2, 1, 9, 3]);
  });

  it('weights hits by words by their share of matched words', async () => {
    const hits = await search([toWordHit(1, 0.2), toWordHit(2, 0.2)], { d: [0, 0, 0, 0.9, 0.8] });
    expect(hits.map(({ nth }) => nth)).toEqual([3, 4, 1, 2]);
  });

  it('distinguishes equal indexes in different documents', async () => {
    expect(await search([toWordHit(1)], { d: [0, 0], e: [0, 1] })).toHaveLength(2);
    expect(await search([], {})).toEqual([]);
  });
});

describe('searchByMeaning', () => {
  const documents = Array.from({ length: 5 }, (_, nth) => createDocument(`d${nth}`));

  /** Searches the vectors of documents. */
  function nearest(queryVector: Float32Array, vectors: Readonly<Record<string, Float32Array>>) {
    const readVectors: PassageIndex['readVectors'] = async ({ document }) => {
      const found = vectors[document] ?? new Float32Array();
      return [{ first: 0, count: found.length / queryVector.length, vectors: found }];
    };
    const found = Object.keys(vectors).map((id) => createDocument(id));
    const query = { text: 'q', documents: found, embedder: createEmbedder(queryVector), signal };
    return createSearch({ readVectors }).searchByMeaning(query);
  }

  it('returns the most similar vectors across documents, best first', async () => {
    const dimensions = 7;
    const vectors = Float32Array.from({ length: dimensions * 500 }, (_, index) => Math.sin(index * 12.9898));
    const query = Float32Array.from({ length: dimensions }, (_, index) => Math.cos(index));
    const plain = Array.from({ length: 500 }, (_, nth) => {
      return { nth, similarity: query.reduce((sum, value, at) => sum + value * (vectors[nth * dimensions + at] ?? 0), 0) };
    });
    const expected = plain.sort((left, right) => right.similarity - left.similarity).slice(0, 30);
    const { hits } = await nearest(query, { d0: vectors.subarray(0, 200 * dimensions), d1: vectors.subarray(200 * dimensions) });
    expect(hits.map(({ document, nth }) => (document === 'd0' ? nth : nth + 200))).toEqual(expected.map(({ nth }) => nth));
    for (const [index, { similarity }] of hits.entries()) expect(similarity).toBeCloseTo(expected[index]?.similarity ?? 0, 4);
  });

  it('yields to the event loop', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    await nearest(new Float32Array(384), { d: new Float32Array(384 * 40_000) });
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
  });

  it('reads the vectors of one document after the other', async () => {
    let reading = 0;
    let maxReading = 0;
    const embedder = createEmbedder();
    const search = createSearch({
      async readVectors({ document }) {
        reading += 1;
        maxReading = Math.max(maxReading, reading);
        await new Promise((resolve) => setImmediate(resolve));
        reading -= 1;
        return [toRun(0, Number(document.slice(1)))];
      },
    });
    const { hits, hasAllVectors } = await search.searchByMeaning({ text: 'q', documents, embedder, signal });
    expect(hits.map(({ document }) => document)).toEqual(['d4', 'd3', 'd2', 'd1', 'd0']);
    expect([hasAllVectors, embedder.embedded, maxReading]).toEqual([true, ['q'], 1]);
  });

  it('reports missing vectors, and does not embed a question if there are none', async () => {
    const partial = createSearch({ readVectors: async ({ document }) => (document === 'd3' ? [toRun(0, 1)] : []) });
    const embedder = createEmbedder();
    const found = await partial.searchByMeaning({ text: 'q', documents, embedder: createEmbedder(), signal });
    expect(found).toMatchObject({ hits: [{ document: 'd3' }], hasAllVectors: false });
    const empty = await createSearch({}).searchByMeaning({ text: 'q', documents, embedder, signal });
    expect([empty, embedder.embedded]).toEqual([{ hits: [], hasAllVectors: false }, []]);
  });

  /** Returns a function that searches one document, and the IDs of the documents whose vectors were read. */
  function createCachedSearch(runs: Record<string, VectorRun[]>, maxBytes: number) {
    const readDocuments: string[] = [];
    const search = createSearch({
      maxBytes,
      async readVectors({ document }) {
        readDocuments.push(document);
        return runs[document] ?? [];
      },
    });
    const find = async (document: IndexedDocument, model = 'm') => {
      const embedder = createEmbedder(Float32Array.of(1), model);
      const { hits } = await search.searchByMeaning({ text: 'q', documents: [document], embedder, signal });
      return hits.map(({ similarity }) => similarity);
    };
    return { readDocuments, find };
  }

  it('joins runs of vectors and caches them once they are complete', async () => {
    const runs = { d: [toRun(0, 1, 2)] };
    const { readDocuments, find } = createCachedSearch(runs, 1000);
    const document = createDocument('d', 3);
    expect(await find(document)).toEqual([2, 1]);
    runs.d.push(toRun(2, 3));
    for (let times = 0; times < 3; times += 1) expect(await find(document)).toEqual([3, 2, 1]);
    expect(readDocuments).toEqual(['d', 'd']);
    await find(document, 'other model');
    expect(readDocuments).toHaveLength(3);
  });

  it('drops the least recently used document if the cache is full', async () => {
    const { readDocuments, find } = createCachedSearch({ a: [toRun(0, 1, 2)], b: [toRun(0, 3, 4)], c: [toRun(0, 5, 6)] }, 300);
    for (const id of ['a', 'b', 'a', 'c', 'a', 'b']) await find(createDocument(id, 2));
    expect(readDocuments).toEqual(['a', 'b', 'c', 'b']);
  });
});
