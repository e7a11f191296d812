import { encode } from 'gpt-tokenizer/encoding/cl100k_base';
import { afterAll, expect, it } from 'vitest';
import type { EmbeddingsRequest } from '#contract/chat/embeddings-request.ts';
import { createDemo, neverAborted } from '#test/demo-model.ts';
import { embed } from './demo-embeddings.ts';

const { embedder } = createDemo();
afterAll(() => embedder.close());

interface Reply {
  data: { object: string; index: number; embedding: number[] }[];
  usage: object;
}

async function embedInput(request: EmbeddingsRequest): Promise<Reply> {
  return (await embed(request, embedder, neverAborted)) as unknown as Reply;
}

function getLength(vector: readonly number[] | undefined): number {
  return Math.hypot(...(vector ?? []));
}

it('yields to the event loop between the texts that it counts', async () => {
  const model = { model: 'm', dimensions: 1, embed: async (texts: readonly string[]) => texts.map(() => Float32Array.of(1)) };
  const input = Array.from({ length: 16 }, (_, nth) => `text ${nth}`);
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  await embed({ input } as EmbeddingsRequest, model, neverAborted);
  clearImmediate(next);
  expect(turns).toBeGreaterThanOrEqual(input.length);
});

it('returns a reply of the OpenAI API', async () => {
  const reply = await embedInput({ input: ['hello world', 'hello'] });
  expect(reply).toMatchObject({
    object: 'list',
    model: 'local:minilm-l6-v2',
    data: [
      { object: 'embedding', index: 0 },
      { object: 'embedding', index: 1 },
    ],
    usage: { prompt_tokens: 3, total_tokens: 3 },
  });
  expect(reply.data.map(({ embedding }) => embedding.length)).toEqual([384, 384]);
});

it('encodes the same numbers as little-endian floats in base64', async () => {
  const plain = await embedInput({ input: 'hello' });
  const encoded = await embedInput({ input: 'hello', encoding_format: 'base64' });
  const bytes = Buffer.from(encoded.data[0]?.embedding as unknown as string, 'base64');
  expect(Array.from({ length: 384 }, (_, index) => bytes.readFloatLE(index * 4))).toEqual(plain.data[0]?.embedding);
});

it('truncates a vector to fewer dimensions and scales it to length 1', async () => {
  const full = (await embedInput({ input: 'hello' })).data[0]?.embedding ?? [];
  const truncated = (await embedInput({ input: 'hello', dimensions: 64 })).data[0]?.embedding ?? [];
  expect(truncated).toHaveLength(64);
  expect(getLength(truncated)).toBeCloseTo(1, 5);
  expect((truncated[1] ?? 0) / (truncated[0] ?? 1)).toBeCloseTo((full[1] ?? 0) / (full[0] ?? 1), 5);
});

it('rejects more dimensions than there are, and unknown tokens', async () => {
  await expect(embedInput({ input: 'hello', dimensions: 385 })).rejects.toMatchObject({ status: 400, param: 'dimensions' });
  await expect(embedInput({ input: [5_000_000] })).rejects.toMatchObject({ status: 400, param: 'input' });
});

it('decodes tokens to their text', async () => {
  const text = await embedInput({ input: 'hello world' });
  expect((await embedInput({ input: encode('hello world') })).data).toEqual(text.data);
  expect((await embedInput({ input: [encode('hello world'), encode('hello')] })).data[0]).toEqual(text.data[0]);
});
