import { describe, expect, it } from 'vitest';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import { compilePattern, type Pattern, PatternError, withPatterns } from './patterns.ts';

const longestText = 'x'.repeat(1024 * 1024);

function hasMatch(pattern: Pattern, text: string): boolean {
  return withPatterns(({ isFound }) => isFound(pattern, text));
}

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

describe('withPatterns', () => {
  it('returns the correct result after a match that took too long', () => {
    const pattern = compilePattern('(?:x?){1000}$|q');
    expect(() => hasMatch(pattern, longestText)).toThrow('it takes longer than 250 ms');
    expect(['q', 'xxx', 'z'].map((text) => hasMatch(pattern, text))).toEqual([true, true, true]);
    const other = compilePattern('^(?:x?){1000}$');
    // Whether this match ends in time depends on the machine.
    try {
      hasMatch(other, longestText);
    } catch (error) {
      expect(error).toBeInstanceOf(PatternError);
    }
    expect(['xxx', 'z'].map((text) => hasMatch(other, text))).toEqual([true, false]);
  });

  it('rejects a text that is too long', () => {
    expect(() => hasMatch(compilePattern('x'), `${longestText}x`)).toThrow('the text has more than 1048576 characters');
  });

  it('bounds the time of all its patterns together', () => {
    const run = () =>
      withPatterns(({ compile, isFound }) => {
        for (;;) isFound(compile('(?:x?){100}'), 'x');
      });
    expect(run).toThrow(PatternError);
  });

  it.each<[string, () => unknown]>([
    [
      'a loop',
      () => {
        for (;;);
      },
    ],
    ['a regular expression', () => /^(a+)+$/.test(`${'a'.repeat(100)}!`)],
  ])('stops %s that would never finish', async (_name, run) => {
    const blockMs = await measureEventLoopBlock(() => expect(() => withPatterns(run)).toThrow('it takes longer than 250 ms'));
    expect(blockMs).toBeLessThan(4000);
  });

  it('repeats a run that got little processor time', () => {
    let runs = 0;
    const waitOnce = (): string => {
      runs += 1;
      if (runs === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      return 'done';
    };
    expect(withPatterns(waitOnce)).toBe('done');
    expect(runs).toBe(2);
  });

  it('returns the result of its callback and rethrows its error', () => {
    const value = { a: 1 };
    expect(withPatterns(() => value)).toBe(value);
    const error = new Error('of the function');
    const run = () =>
      withPatterns(() => {
        throw error;
      });
    expect(run).toThrow(error);
  });
});
