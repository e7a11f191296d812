import { expect, it } from 'vitest';
import { sumCounts, toCount, toModelUsage, toModelUsages, UsageCollector } from './usage.ts';

it('toCount() returns 0 for invalid counts', () => {
  expect([3, 2.4, 1e9, 1e9 + 1, 1e300, Number.POSITIVE_INFINITY, Number.NaN, -1, '3', null].map(toCount)).toEqual([
    ...[3, 2, 1e9, 0, 0, 0, 0, 0, 0, 0],
  ]);
});

it('toModelUsage() and toModelUsages() return names, counts, and sums per model', () => {
  const zeroUsage = { index: 0, model: 'm', name: 'm', prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  expect(toModelUsage('m')).toEqual(zeroUsage);
  expect(toModelUsage('m', { prompt_tokens: 3 })).toEqual({ ...zeroUsage, prompt_tokens: 3, total_tokens: 3 });
  const [first, second] = toModelUsages([toModelUsage('a', { completion_tokens: 1 }), toModelUsage('b'), toModelUsage('a')]);
  expect([first?.index, first?.completion_tokens, second?.index]).toEqual([0, 1, 1]);
});

it('sums never exceed the maximum of a single count', () => {
  const most = toModelUsage('m', { prompt_tokens: 900_000_000, completion_tokens: 1 });
  const [sum, ...rest] = toModelUsages([most, most, most]);
  expect([sum, rest]).toEqual([toModelUsage('m', { prompt_tokens: 1_000_000_000, completion_tokens: 3 }), []]);
  const collector = new UsageCollector();
  for (let calls = 0; calls < 3; calls += 1) collector.add([most]);
  expect(collector.getTotals().usage).toEqual({
    prompt_tokens: 1_000_000_000,
    completion_tokens: 3,
    total_tokens: 1_000_000_003,
  });
  expect(sumCounts([most, most, most]).prompt_tokens).toBe(1_000_000_000);
});

it('toModelUsages() separates declared counts from metered counts of the same name', () => {
  const metered = toModelUsage('m', { prompt_tokens: 1 });
  const declared = { ...toModelUsage('m', { prompt_tokens: 5 }), declared: true as const };
  expect(toModelUsages([metered, declared, declared])).toEqual([
    metered,
    { ...toModelUsage('m', { prompt_tokens: 10 }), index: 1, declared: true },
  ]);
});
