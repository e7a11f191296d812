import { expect, it } from 'vitest';
import type { JsonObject } from '#base/json/json.ts';
import { DeploymentEmbedder } from './deployment-embedder.ts';

const never = new AbortController().signal;
const texts = Array.from({ length: 150 }, (_, nth) => `${nth + 1}`);
const toItem = (text: string, index: number): JsonObject => ({ index, embedding: [Number(text), 0] });

it('DeploymentEmbedder splits texts into concurrent requests and returns the vectors in order', async () => {
  const requestSizes: number[] = [];
  const embedder = new DeploymentEmbedder('m', async ({ input }) => {
    const part = input as string[];
    requestSizes.push(part.length);
    await Promise.resolve();
    return { data: part.map(toItem).toReversed() };
  });
  const marked = new DeploymentEmbedder('m', async ({ input }) => ({
    data: (input as string[]).map((text, index) => ({ index, embedding: [1, Number(text)] })),
  }));
  const vectors = await embedder.embed(texts, never);
  expect(requestSizes).toEqual([64, 64, 22]);
  expect(vectors).toEqual(texts.map(() => Float32Array.of(1, 0)));
  const ratios = (await marked.embed(texts, never)).map(([first = 0, second = 0]) => Math.round(second / first));
  expect(ratios).toEqual(texts.map(Number));
});

it('DeploymentEmbedder rejects vectors of different lengths, also across requests', async () => {
  const embedder = new DeploymentEmbedder('m', async ({ input }) => {
    const embedding = (input as string[]).length === 64 ? [1, 0] : [1];
    return { data: (input as string[]).map((_, index) => ({ index, embedding })) };
  });
  await expect(embedder.embed(texts, never)).rejects.toThrow('did not return one vector per text, all of the same length');
});
