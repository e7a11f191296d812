import { expect, test } from 'vitest';
import { measureLongestHold } from '#test/longest-hold.ts';
import { runWithin } from './run-within.ts';

test('a run that is done in time gives its value', () => {
  const value = { a: 1 };
  expect(runWithin(1000, () => value)).toBe(value);
});

test('a run that fails throws what it threw', () => {
  const fault = new Error('no');
  expect(() =>
    runWithin(1000, () => {
      throw fault;
    }),
  ).toThrow(fault);
});

test.each<[string, () => unknown]>([
  [
    'a loop',
    () => {
      for (;;);
    },
  ],
  ['a regular expression', () => /^(a+)+$/.test(`${'a'.repeat(100)}!`)],
])('%s that would go on for ever is broken off', async (_name, run) => {
  expect(await measureLongestHold(() => expect(() => runWithin(50, run)).toThrow('timed out'))).toBeLessThan(2000);
});

test('a run that got little processor time is repeated', () => {
  let runs = 0;
  const waitOnce = (): string => {
    runs += 1;
    if (runs === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    return 'done';
  };
  expect(runWithin(50, waitOnce)).toBe('done');
  expect(runs).toBe(2);
});
