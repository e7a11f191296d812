import { expect, it } from 'vitest';
import { isReported, toCount, toModelUsage, toModelUsages, toUsage } from './usage.ts';

it('Counts that cannot be are none, and then nothing is reported', () => {
  expect([3, 2.4, 1e9, 1e9 + 1, 1e300, Number.POSITIVE_INFINITY, Number.NaN, -1, '3', null].map(toCount)).toEqual([
    ...[3, 2, 1e9, 0, 0, 0, 0, 0, 0, 0],
  ]);
  const reported = (prompt_tokens: unknown, completion_tokens: unknown): boolean =>
    isReported({ prompt_tokens, completion_tokens } as Parameters<typeof isReported>[0]);
  expect([reported(1, 2), reported(1, undefined), reported(null, 0)]).toEqual([true, true, true]);
  expect([reported(1e300, 2), reported(undefined, null), reported('1', '2')]).toEqual([false, false, false]);
});

it('A total is the sum of what it is the total of', () => {
  const odd = { prompt_tokens: 1.2, completion_tokens: 2, total_tokens: 9, extra: 1 };
  expect(toUsage(odd)).toEqual({ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, extra: 1 });
});

it('The item of a model has its name, its counts and their sum', () => {
  const none = { index: 0, model: 'm', name: 'm', prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  expect(toModelUsage('m')).toEqual(none);
  expect(toModelUsage('m', { prompt_tokens: 3 })).toEqual({ ...none, prompt_tokens: 3, total_tokens: 3 });
  const [first, second] = toModelUsages([toModelUsage('a', { completion_tokens: 1 }), toModelUsage('b'), toModelUsage('a')]);
  expect([first?.index, first?.completion_tokens, second?.index]).toEqual([0, 1, 1]);
});
