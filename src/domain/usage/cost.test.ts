import { describe, expect, it } from 'vitest';
import type { ModelUsage } from '#contract/chat/chunk.ts';
import type { Deployment } from '../deployments/deployment.ts';
import { computeCost, computeUsd } from './usage.ts';

function priced(pricing: Deployment['pricing']): Deployment {
  return { id: 'm', kind: 'model', pricing } as Deployment;
}

const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };

describe('computeCost', () => {
  it('returns the sum of all tokens at their prices, in billionths of a USD', () => {
    expect(computeCost(priced({ prompt: 0.00000015, completion: 0.0000006 }), usage)).toBe(210_000);
    expect(computeCost(priced({ prompt: 0.001 }), usage)).toBe(1_000_000_000);
  });

  it('returns 0 without prices', () => {
    expect(computeCost(priced(undefined), usage)).toBe(0);
    expect(computeCost(priced({}), usage)).toBe(0);
  });

  it('applies the prices of cached tokens if there are any', () => {
    const cached = { ...usage, prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 300 } };
    const prices = { prompt: 0.001, completion: 0, cacheRead: 0.0001, cacheWrite: 0.002 };
    expect(computeCost(priced(prices), cached)).toBe(1e9 * (0.1 + 0.06 + 0.6));
    expect(computeCost(priced({ prompt: 0.001 }), cached)).toBe(1e9);
  });

  it('applies the price of tokens that are cached for an hour if there is one', () => {
    const details = { cached_tokens: 0, cache_write_tokens: 300, cache_write_1h_tokens: 200 };
    const cached = { ...usage, prompt_tokens_details: details };
    const prices = { prompt: 0.001, completion: 0, cacheWrite: 0.002 };
    expect(computeCost(priced({ ...prices, cacheWrite1h: 0.004 }), cached)).toBe(1_700_000_000);
    expect(computeCost(priced(prices), cached)).toBe(1_300_000_000);
  });

  it.each([{ cached_tokens: -5 }, { cached_tokens: '900' }, { cached_tokens: Number.NaN }, [], 'x', null])(
    'ignores invalid cache details: %j',
    (prompt_tokens_details) => {
      expect(computeCost(priced({ prompt: 0.001, cacheRead: 0 }), { ...usage, prompt_tokens_details })).toBe(1e9);
    },
  );

  it('is never negative if the reported cached tokens exceed the prompt', () => {
    const details = { prompt_tokens_details: { cached_tokens: 5000, cache_write_tokens: 5000 } };
    expect(computeCost(priced({ prompt: 0.001, cacheRead: 0.0001 }), { ...usage, ...details })).toBe(100_000_000);
  });
});

describe('computeUsd', () => {
  const priced = { pricing: { prompt: 0.001, completion: 0.01 } } as Deployment;
  const snapshot = {
    deployments: new Map([
      ['priced', priced],
      ['free', { pricing: undefined } as Deployment],
    ]),
  };
  const used = (model: string) =>
    ({ index: 0, model, name: model, prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }) as ModelUsage;

  it('returns the sum over all models', () => {
    expect(computeUsd(snapshot, [used('priced'), used('priced')])).toBeCloseTo(0.06);
  });

  it.each([[[]], [[used('free')]], [[used('priced'), used('gone')]]])('returns undefined for %j', (usage) => {
    expect(computeUsd(snapshot, usage)).toBeUndefined();
  });
});
