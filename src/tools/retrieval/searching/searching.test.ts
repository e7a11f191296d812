import { describe, expect, it } from 'vitest';
import { BoundedCache } from '#base/cache/bounded-cache.ts';
import type { IndexedDocument, PassageIndex, VectorRun } from '#domain/tools/passage-index.ts';
import { fuse, nearest, VectorCache } from './passage-search.ts';

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

describe('nearest', () => {
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
