import { describe, expect, it } from 'vitest';
import { ReplySizes } from './reply-sizes.ts';
import type { TokenCounts } from './usage.ts';

const deployment = { id: 'm', limits: undefined, pricing: undefined };

function counts(prompt: number, completion: number): TokenCounts {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

/** Returns sizes learned from these replies to calls without a maximum. */
function learnSizes(replies: readonly TokenCounts[], promptTokens = 10): ReplySizes {
  const sizes = new ReplySizes();
  for (const reply of replies) sizes.learn(deployment, { promptTokens, maxTokens: undefined }, reply);
  return sizes;
}

describe('ReplySizes', () => {
  it('estimates 4,096 tokens until it has data, or the requested maximum if that is higher', () => {
    const sizes = new ReplySizes();
    expect(sizes.estimate(deployment, { promptTokens: 10, maxTokens: undefined })).toEqual(counts(10, 4086));
    expect(sizes.estimate(deployment, { promptTokens: 10, maxTokens: 5 })).toEqual(counts(10, 4086));
    expect(sizes.estimate(deployment, { promptTokens: 10, maxTokens: 8000 })).toEqual(counts(10, 8000));
    expect(sizes.estimate(deployment, { promptTokens: 5000, maxTokens: undefined })).toEqual(counts(5000, 0));
  });

  it('estimates at most the limits of the deployment', () => {
    const sizes = new ReplySizes();
    const small = { ...deployment, limits: { maxTotalTokens: 1000 } };
    expect(sizes.estimate(small, { promptTokens: 10, maxTokens: 8000 })).toEqual(counts(10, 990));
    const wordy = { ...deployment, limits: { maxCompletionTokens: 9000 } };
    expect(sizes.estimate(wordy, { promptTokens: 10, maxTokens: undefined })).toEqual(counts(10, 9000));
  });

  it('assumes the more expensive kind of tokens until it has data', () => {
    const sizes = new ReplySizes();
    const withPromptPrice = { ...deployment, pricing: { prompt: 0.001 } };
    expect(sizes.estimate(withPromptPrice, { promptTokens: 10, maxTokens: 0 })).toEqual(counts(4096, 0));
  });

  it('estimates the exact usage if all calls use the same, including images and tools', () => {
    const sizes = learnSizes(Array(3).fill(counts(110, 50)));
    expect(sizes.estimate(deployment, { promptTokens: 10, maxTokens: undefined })).toEqual(counts(110, 50));
    expect(sizes.estimate(deployment, { promptTokens: 1000, maxTokens: 4000 })).toEqual(counts(1100, 50));
  });

  it('estimates at most the requested maximum if the replies respect it', () => {
    const sizes = learnSizes([counts(10, 500)]);
    expect(sizes.estimate(deployment, { promptTokens: 10, maxTokens: 1 })).toEqual(counts(10, 1));
    sizes.learn(deployment, { promptTokens: 10, maxTokens: 20 }, counts(10, 500));
    expect(sizes.estimate(deployment, { promptTokens: 10, maxTokens: 1 })).toEqual(counts(10, 500));
  });

  it('covers most replies of varying size, and adapts to changes', () => {
    const sizes = learnSizes(Array.from({ length: 200 }, (_, turn) => counts(10, turn % 2 === 0 ? 100 : 300)));
    const { completion_tokens: usual } = sizes.estimate(deployment, { promptTokens: 10, maxTokens: undefined });
    expect(usual).toBeGreaterThan(250);
    expect(usual).toBeLessThan(350);
    for (let turn = 0; turn < 100; turn += 1)
      sizes.learn(deployment, { promptTokens: 10, maxTokens: undefined }, counts(10, 2000));
    expect(sizes.estimate(deployment, { promptTokens: 10, maxTokens: undefined }).completion_tokens).toBeGreaterThan(1990);
  });

  it('estimates a valid integer for any input', () => {
    const sizes = new ReplySizes();
    expect(sizes.estimate(deployment, { promptTokens: 1, maxTokens: 1e308 }).completion_tokens).toBe(1e9);
    const few = learnSizes([counts(0, 0)], 1000);
    expect(few.estimate(deployment, { promptTokens: 10, maxTokens: undefined })).toEqual(counts(0, 0));
  });

  it('learns each deployment separately, and at most ten thousand deployments', () => {
    const sizes = learnSizes([counts(10, 7)]);
    const reply = (id: string) =>
      sizes.estimate({ ...deployment, id }, { promptTokens: 10, maxTokens: undefined }).completion_tokens;
    expect([reply('m'), reply('n')]).toEqual([7, 4086]);
    for (let index = 0; index < 10_000; index += 1)
      sizes.learn({ ...deployment, id: `d${index}` }, { promptTokens: 1, maxTokens: 1 }, counts(1, 1));
    expect([reply('m'), reply('d0'), reply('d9999')]).toEqual([4086, 1, 1]);
  });
});
