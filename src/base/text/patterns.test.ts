import { describe, expect, it, test } from 'vitest';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import { compilePattern, hasMatch, PatternError, runWithTimeout, withPatterns } from './patterns.ts';

const longestText = 'x'.repeat(1024 * 1024);

describe('compilePattern', () => {
  it('returns a pattern that finds its matches', () => {
    const pattern = compilePattern('^m|o$');
    expect(['mail', 'demo', 'x'].map((text) => hasMatch(pattern, text))).toEqual([true, true, false]);
  });

  it('does not count text that only resembles a repetition toward the maximum size', () => {
    const pattern = compilePattern('[{1000}]\\x{1000}\\{1000}'.repeat(30));
    expect(hasMatch(pattern, '1\u{1000}{1000}'.repeat(30))).toBe(true);
  });

  it.each([
    ['[', 'missing closing ]'],
    ['(?=a)', 'invalid or unsupported'],
    ['(?<=a)b', 'invalid named capture'],
    ['(a)\\1', 'invalid escape'],
    ['(?:x{1000}|[]{}]\\x{1000})'.repeat(40), 'it expands to more than 3000 instructions'],
    ['x'.repeat(1001), 'it has more than 1000 characters'],
    ['x{1000}'.repeat(4), 'it expands to more than 3000 instructions'],
    ['(?:x?){1000}'.repeat(80), 'it expands to more than 3000 instructions'],
  ])('rejects %s', (source, message) => {
    expect(() => compilePattern(source)).toThrow(PatternError);
    expect(() => compilePattern(source)).toThrow(message);
  });
});

describe('hasMatch', () => {
  it('returns undefined if the match takes too long', () => {
    const pattern = compilePattern('(?:x?){1000}$');
    expect(hasMatch(pattern, longestText)).toBeUndefined();
  });

  it('returns the correct result after a match that took too long', () => {
    const pattern = compilePattern('(?:x?){1000}$|q');
    hasMatch(pattern, longestText);
    expect(['q', 'xxx', 'z'].map((text) => hasMatch(pattern, text))).toEqual([true, true, true]);
    const other = compilePattern('^(?:x?){1000}$');
    hasMatch(other, longestText);
    expect(['xxx', 'z'].map((text) => hasMatch(other, text))).toEqual([true, false]);
  });

  it('returns undefined if the text is too long', () => {
    expect(hasMatch(compilePattern('x'), `${longestText}x`)).toBeUndefined();
  });
});

describe('withPatterns', () => {
  it('bounds the time of all its patterns together', () => {
    const run = () =>
      withPatterns(({ compile, isFound }) => {
        for (;;) isFound(compile('(?:x?){100}'), 'x');
      });
    expect(run).toThrow(PatternError);
  });

  it('rethrows an error of its callback', () => {
    const error = new Error('of the function');
    const run = () =>
      withPatterns(() => {
        throw error;
      });
    expect(run).toThrow(error);
  });
});

test('runWithTimeout returns the value of a function that finishes in time', () => {
  const value = { a: 1 };
  expect(runWithTimeout(1000, () => value)).toBe(value);
});

test('runWithTimeout rethrows an error of its callback', () => {
  const thrownError = new Error('no');
  expect(() =>
    runWithTimeout(1000, () => {
      throw thrownError;
    }),
  ).toThrow(thrownError);
});

test.each<[string, () => unknown]>([
  [
    'a loop',
    () => {
      for (;;);
    },
  ],
  ['a regular expression', () => /^(a+)+$/.test(`${'a'.repeat(100)}!`)],
])('runWithTimeout stops %s that would never finish', async (_name, run) => {
  expect(await measureEventLoopBlock(() => expect(() => runWithTimeout(50, run)).toThrow('timed out'))).toBeLessThan(2000);
});

test('runWithTimeout repeats a run that got little processor time', () => {
  let runs = 0;
  const waitOnce = (): string => {
    runs += 1;
    if (runs === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    return 'done';
  };
  expect(runWithTimeout(50, waitOnce)).toBe('done');
  expect(runs).toBe(2);
});
