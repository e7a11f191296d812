import { expect, it } from 'vitest';
import { UsageCollector } from './usage.ts';

it('UsageCollector returns the sum of all calls, and one item per model', () => {
  const used = (model: string, prompt_tokens: number, completion_tokens: number) => ({
    index: 0,
    model,
    name: model,
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
  });
  const tally = new UsageCollector();
  expect(tally.items).toEqual([]);
  tally.add([used('small', 1, 2), used('large', 10, 20)]);
  tally.add([used('small', 3, 4)]);
  const items = [used('small', 4, 6), { ...used('large', 10, 20), index: 1 }];
  expect(tally.items).toEqual(items);
  expect(tally.getTotals()).toEqual({
    usage: { prompt_tokens: 14, completion_tokens: 26, total_tokens: 40 },
    statistics: { usage_per_model: items },
  });
});
