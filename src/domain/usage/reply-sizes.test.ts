import { describe, expect, it } from 'vitest';
import { ReplySizes } from './reply-sizes.ts';
import type { TokenCounts } from './usage.ts';

const deployment = { id: 'm', limits: undefined, pricing: undefined };

function counts(prompt: number, completion: number): TokenCounts {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

/** After replies of these tokens to a call without a bound. */
function learned(replies: readonly TokenCounts[], promptTokens = 10): ReplySizes {
  const sizes = new ReplySizes();
  for (const reply of replies) sizes.learn(deployment, { promptTokens, maxTokens: undefined }, reply);
  return sizes;
}

describe('what a call may come to use', () => {
  it('is 4,096 tokens until anything is known, or what it asks for if that is more', () => {
    const sizes = new ReplySizes();
    expect(sizes.estimate(deployment, { promptTokens: 10, maxTokens: undefined })).toEqual(counts(10, 4086));
    expect(sizes.estimate(deployment, { promptTokens: 10, maxTokens: 5 })).toEqual(counts(10, 4086));
    expect(sizes.estimate(deployment, { promptTokens: 10, maxTokens: 8000 })).toEqual(counts(10, 8000));
    expect(sizes.estimate(deployment, { promptTokens: 5000, maxTokens: undefined })).toEqual(counts(5000, 0));
  });

  it('is no more than the deployment can, as far as that is known', () => {
    const sizes = new ReplySizes();
    const small = { ...deployment, limits: { maxTotalTokens: 1000 } };
    expect(sizes.estimate(small, { promptTokens: 10, maxTokens: 8000 })).toEqual(counts(10, 990));
    const wordy = { ...deployment, limits: { maxCompletionTokens: 9000 } };
    expect(sizes.estimate(wordy, { promptTokens: 10, maxTokens: undefined })).toEqual(counts(10, 9000));
  });

  it('is taken for the dearer tokens as long as their kind is not known', () => {
    const sizes = new ReplySizes();
    const ofPrompts = { ...deployment, pricing: { prompt: 0.001 } };
    expect(sizes.estimate(ofPrompts, { promptTokens: 10, maxTokens: 0 })).toEqual(counts(4096, 0));
  });

  it('is exactly what calls use that all use the same, images and tools included', () => {
    const sizes = learned(Array(3).fill(counts(110, 50)));
    expect(sizes.estimate(deployment, { promptTokens: 10, maxTokens: undefined })).toEqual(counts(110, 50));
    expect(sizes.estimate(deployment, { promptTokens: 1000, maxTokens: 4000 })).toEqual(counts(1100, 50));
  });

  it('is no more than a call asks for, if the replies keep to that', () => {
    const sizes = learned([counts(10, 500)]);
    expect(sizes.estimate(deployment, { promptTokens: 10, maxTokens: 1 })).toEqual(counts(10, 1));
    sizes.learn(deployment, { promptTokens: 10, maxTokens: 20 }, counts(10, 500));
    expect(sizes.estimate(deployment, { promptTokens: 10, maxTokens: 1 })).toEqual(counts(10, 500));
  });

  it('covers most of replies that differ, and follows them', () => {
    const sizes = learned(Array.from({ length: 200 }, (_, turn) => counts(10, turn % 2 === 0 ? 100 : 300)));
    const { completion_tokens: usual } = sizes.estimate(deployment, { promptTokens: 10, maxTokens: undefined });
    expect(usual).toBeGreaterThan(250);
    expect(usual).toBeLessThan(350);
    for (let turn = 0; turn < 100; turn += 1)
      sizes.learn(deployment, { promptTokens: 10, maxTokens: undefined }, counts(10, 2000));
    expect(sizes.estimate(deployment, { promptTokens: 10, maxTokens: undefined }).completion_tokens).toBeGreaterThan(1990);
  });

  it('is a whole number that can be counted, whatever is asked or told', () => {
    const sizes = new ReplySizes();
    expect(sizes.estimate(deployment, { promptTokens: 1, maxTokens: 1e308 }).completion_tokens).toBe(1e9);
    const few = learned([counts(0, 0)], 1000);
    expect(few.estimate(deployment, { promptTokens: 10, maxTokens: undefined })).toEqual(counts(0, 0));
  });

  it('is learned for each deployment by itself, and of ten thousand at most', () => {
    const sizes = learned([counts(10, 7)]);
    const reply = (id: string) =>
      sizes.estimate({ ...deployment, id }, { promptTokens: 10, maxTokens: undefined }).completion_tokens;
    expect([reply('m'), reply('n')]).toEqual([7, 4086]);
    for (let at = 0; at < 10_000; at += 1)
      sizes.learn({ ...deployment, id: `d${at}` }, { promptTokens: 1, maxTokens: 1 }, counts(1, 1));
    expect([reply('m'), reply('d0'), reply('d9999')]).toEqual([4086, 1, 1]);
  });
});
