import { expect, it } from 'vitest';
import { toCount, toModelUsage, toModelUsages } from './usage.ts';

it('Counts that cannot be are none', () => {
  expect([3, 2.4, 1e9, 1e9 + 1, 1e300, Number.POSITIVE_INFINITY, Number.NaN, -1, '3', null].map(toCount)).toEqual([
    ...[3, 2, 1e9, 0, 0, 0, 0, 0, 0, 0],
  ]);
});

it('The item of a model has its name, its counts and their sum', () => {
  const none = { index: 0, model: 'm', name: 'm', prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  expect(toModelUsage('m')).toEqual(none);
  expect(toModelUsage('m', { prompt_tokens: 3 })).toEqual({ ...none, prompt_tokens: 3, total_tokens: 3 });
  const [first, second] = toModelUsages([toModelUsage('a', { completion_tokens: 1 }), toModelUsage('b'), toModelUsage('a')]);
  expect([first?.index, first?.completion_tokens, second?.index]).toEqual([0, 1, 1]);
});
