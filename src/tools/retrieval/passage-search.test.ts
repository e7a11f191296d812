import { describe, expect, it } from 'vitest';
import { BoundedCache } from '#base/cache/bounded-cache.ts';
import type { IndexedDocument, PassageIndex, VectorRun } from '#domain/tools/passage-index.ts';
import { fuse, NearestPassages, PassageSearch, VectorCache } from './passage-search.ts';

describe('fuse', () => {
  const hit = (nth: number, weight = 1) => ({ document: 'd', nth, weight });

  it('ranks passages first that have high ranks in several lists', () => {
    expect(
      fuse([
        [hit(1), hit(2), hit(3)],
        [hit(9), hit(2)],
      ]).map(({ nth }) => nth),
    ).toEqual([2, 1, 9, 3]);
  });

  it('weights each hit', () => {
    expect(
      fuse([
        [hit(1, 0.2), hit(2, 0.2)],
        [hit(3), hit(4)],
      ]).map(({ nth }) => nth),
    ).toEqual([3, 4, 1, 2]);
  });

  it('distinguishes equal indexes in different documents', () => {
    expect(fuse([[hit(1)], [{ document: 'e', nth: 1, weight: 1 }]])).toHaveLength(2);
    expect(fuse([])).toEqual([]);
  });
});

describe('NearestPassages', () => {
  async function nearest(query: Float32Array, sets: readonly { document: string; vectors: Float32Array }[], limit: number) {
    const passages = new NearestPassages(query, limit);
    for (const { document, vectors } of sets) await passages.scan(document, vectors);
    return passages.hits;
  }

  it('returns the most similar vectors across documents, best first', async () => {
    const dimensions = 7;
    const vectors = Float32Array.from({ length: dimensions * 500 }, (_, index) => Math.sin(index * 12.9898));
    const query = Float32Array.from({ length: dimensions }, (_, index) => Math.cos(index));
    const plain = Array.from({ length: 500 }, (_, nth) => {
      return { nth, similarity: query.reduce((sum, value, at) => sum + value * (vectors[nth * dimensions + at] ?? 0), 0) };
    });
    const expected = plain.sort((left, right) => right.similarity - left.similarity).slice(0, 9);
    const sets = [0, 200].map((from, index) => {
      return { document: `d${index}`, vectors: vectors.subarray(from * dimensions, (index === 0 ? 200 : 500) * dimensions) };
    });
    const hits = await nearest(query, sets, 9);
    expect(hits.map(({ document, nth }) => (document === 'd0' ? nth : nth + 200))).toEqual(expected.map(({ nth }) => nth));
    for (const [index, { similarity }] of hits.entries()) expect(similarity).toBeCloseTo(expected[index]?.similarity ?? 0, 4);
  });

  it('returns fewer hits if there are fewer vectors', async () => {
    expect(await nearest(Float32Array.of(1), [{ document: 'd', vectors: Float32Array.of(0.5) }], 3)).toHaveLength(1);
    expect(await nearest(Float32Array.of(1), [], 3)).toEqual([]);
  });

  it('yields to the event loop', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    await nearest(new Float32Array(384), [{ document: 'd', vectors: new Float32Array(384 * 40_000) }], 3);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
  });
});

describe('PassageSearch', () => {
  const documents = Array.from({ length: 5 }, (_, nth): IndexedDocument => {
    return { id: `d${nth}`, title: '', format: 'txt', passageCount: 1, tokenCount: 0, note: undefined, failure: undefined };
  });

  function createSearch(readVectors: PassageIndex['readVectors']) {
    const embedded: string[] = [];
    const embedder = {
      model: 'm',
      async embed(texts: readonly string[]) {
        embedded.push(...texts);
        return [Float32Array.of(1)];
      },
    };
    const index = { readVectors } as Partial<PassageIndex> as PassageIndex;
    const search = new PassageSearch(index, new BoundedCache<Float32Array>({ maxBytes: 0, countBytes: () => 1 }));
    const { signal } = new AbortController();
    return { embedded, run: () => search.searchByMeaning({ text: 'q', documents, embedder, signal }) };
  }

  it('reads the vectors of one document after the other', async () => {
    let reading = 0;
    let maxReading = 0;
    const { embedded, run } = createSearch(async ({ document }) => {
      reading += 1;
      maxReading = Math.max(maxReading, reading);
      await new Promise((resolve) => setImmediate(resolve));
      reading -= 1;
      return [{ first: 0, count: 1, vectors: Float32Array.of(Number(document.slice(1))) }];
    });
    const { hits, hasAllVectors } = await run();
    expect(hits.map(({ document }) => document)).toEqual(['d4', 'd3', 'd2', 'd1', 'd0']);
    expect([hasAllVectors, embedded, maxReading]).toEqual([true, ['q'], 1]);
  });

  it('reports missing vectors, and does not embed a question if there are none', async () => {
    const partial = createSearch(async ({ document }) =>
      document === 'd3' ? [{ first: 0, count: 1, vectors: Float32Array.of(1) }] : [],
    );
    expect(await partial.run()).toMatchObject({ hits: [{ document: 'd3' }], hasAllVectors: false });
    const empty = createSearch(async () => []);
    expect(await empty.run()).toEqual({ hits: [], hasAllVectors: false });
    expect(empty.embedded).toEqual([]);
  });
});

describe('VectorCache', () => {
  const createDocument = (id: string, passages: number): IndexedDocument => {
    return { id, title: '', format: 'txt', passageCount: passages, tokenCount: 0, note: undefined, failure: undefined };
  };

  const createCache = (maxBytes: number) =>
    new BoundedCache<Float32Array>({ maxBytes, countBytes: ({ byteLength }) => byteLength });

  function createIndex(runs: Record<string, VectorRun[]>) {
    const loadedDocuments: string[] = [];
    const index = {
      async readVectors({ document }: { document: string }) {
        loadedDocuments.push(document);
        return runs[document] ?? [];
      },
    } as Partial<PassageIndex> as PassageIndex;
    return { loadedDocuments, index };
  }

  const run = (first: number, ...values: number[]): VectorRun => ({
    first,
    count: values.length,
    vectors: Float32Array.from(values),
  });

  it('joins runs and caches them once they are complete', async () => {
    const runs = { d: [run(0, 1, 2)] };
    const { loadedDocuments, index } = createIndex(runs);
    const cache = new VectorCache(index, createCache(1000));
    expect([...(await cache.get(createDocument('d', 3), 'm'))]).toEqual([1, 2]);
    runs.d.push(run(2, 3));
    for (let times = 0; times < 3; times += 1) expect([...(await cache.get(createDocument('d', 3), 'm'))]).toEqual([1, 2, 3]);
    expect(loadedDocuments).toEqual(['d', 'd']);
    await cache.get(createDocument('d', 3), 'other model');
    expect(loadedDocuments).toHaveLength(3);
  });

  it('drops the least recently used document if the cache is full', async () => {
    const { loadedDocuments, index } = createIndex({ a: [run(0, 1, 2)], b: [run(0, 3, 4)], c: [run(0, 5, 6)] });
    const cache = new VectorCache(index, createCache(300));
    for (const id of ['a', 'b', 'a', 'c', 'a', 'b']) await cache.get(createDocument(id, 2), 'm');
    expect(loadedDocuments).toEqual(['a', 'b', 'c', 'b']);
  });
});
