import { expect, it } from 'vitest';
import { readEmbeddingsReply } from './read-reply.ts';

it('Embeddings may have millions of numbers', async () => {
  const embedding = Array.from({ length: 1000 }, () => 0.1);
  const data = Array.from({ length: 2000 }, (_, index) => ({ index, embedding }));
  async function* body(): AsyncGenerator<string, void> {
    yield JSON.stringify({ data });
  }
  const reply = await readEmbeddingsReply({ status: 200, headers: {}, body: body() });
  expect(reply.data).toHaveLength(2000);
});
