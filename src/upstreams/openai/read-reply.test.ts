import { expect, it } from 'vitest';
import { embeddingsReply } from './read-reply.ts';

it('accepts embeddings with millions of numbers', () => {
  const embedding = Array.from({ length: 1000 }, () => 0.1);
  const data = Array.from({ length: 2000 }, (_, index) => ({ index, embedding }));
  const reply = embeddingsReply.readComplete(JSON.stringify({ data }), {});
  expect(reply.data).toHaveLength(2000);
});
