import { expect, it } from 'vitest';
import { isMet } from './write-condition.ts';

it('isMet() compares the condition with the stored ETag', () => {
  expect([isMet(undefined, undefined), isMet(undefined, 'one')]).toEqual([true, true]);
  expect([isMet('absent', undefined), isMet('absent', 'one')]).toEqual([true, false]);
  expect([isMet('present', undefined), isMet('present', 'one')]).toEqual([false, true]);
  const one = { etag: 'one' };
  expect([isMet(one, undefined), isMet(one, 'one'), isMet(one, 'two')]).toEqual([false, true, false]);
});
