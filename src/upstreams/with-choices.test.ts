import { expect, it } from 'vitest';
import type { Usage } from '#contract/chunk.ts';
import { Frame } from '#contract/frame.ts';
import { fanOut } from './with-choices.ts';

const head = { id: 'x', object: 'chat.completion.chunk' as const, created: 1 };

async function* reply(usage: Usage): AsyncIterable<Frame> {
  yield Frame.ofChunks(
    { ...head, choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }] },
    { ...head, choices: [], usage },
  );
}

it('sums what several replies used, with the tokens that have prices of their own', async () => {
  const counts = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
  const usages: Usage[] = [
    { ...counts, prompt_tokens_details: { cached_tokens: 4 } },
    {
      ...counts,
      prompt_tokens_details: { cached_tokens: 6, cache_write_tokens: 1 },
      completion_tokens_details: { reasoning_tokens: 2 },
    },
    counts,
  ];
  let nth = 0;
  const chunks = [];
  for await (const frame of fanOut(3, new AbortController().signal, () => reply(usages[nth++] ?? counts)))
    chunks.push(...frame.chunks);
  expect(chunks.at(-1)?.usage).toEqual({
    prompt_tokens: 30,
    completion_tokens: 6,
    total_tokens: 36,
    prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 1 },
    completion_tokens_details: { reasoning_tokens: 2 },
  });
  expect(chunks.flatMap(({ choices }) => choices.map(({ index }) => index)).sort()).toEqual([0, 1, 2]);
});
