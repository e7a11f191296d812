import { describe, expect, it, vi } from 'vitest';
import * as patterns from '#base/text/patterns.ts';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import { parseCases, parseCsvCases } from './parse-cases.ts';

const caseWith = (checks: readonly string[]) => ({ input: 'a', checks: checks.map((pattern) => ({ type: 'matches', pattern })) });

describe('parseCases', () => {
  it('rejects patterns with 140,000 instructions and returns the path of the first pattern', () => {
    const pattern = Array(140).fill('x{1000}').join('');
    const cases = Array.from({ length: 3 }, () => caseWith(Array(20).fill(pattern)));
    const large = () => parseCases({ cases });
    expect(large).toThrow('cases[0].checks[0].pattern must be a regular expression');
  });

  it('compiles all patterns of a body within one time limit', async () => {
    const compileSpy = vi.spyOn(patterns.Pattern.run, 'compile');
    const cases = Array.from({ length: 1000 }, () => caseWith(['x{900}'.repeat(3)]));
    const blockedMs = await measureEventLoopBlock(() => {
      expect(() => parseCases({ cases })).toThrow('it takes longer than 250 ms');
    });
    expect(compileSpy.mock.calls.length).toBeLessThan(1000);
    expect(blockedMs).toBeLessThan(5000);
    compileSpy.mockRestore();
  });

  it('rejects a body with too many characters before it compiles a pattern', () => {
    const compileSpy = vi.spyOn(patterns.Pattern.run, 'compile');
    const cases = Array.from({ length: 30 }, () => ({ ...caseWith(['x']), input: 'a'.repeat(199_000) }));
    expect(() => parseCases({ cases })).toThrow('cases must have at most 4194304 characters of JSON');
    expect(compileSpy).not.toHaveBeenCalled();
    compileSpy.mockRestore();
  });

  it('rejects more than 1000 patterns in one body', () => {
    const cases = Array.from({ length: 51 }, () => caseWith(Array(20).fill('x')));
    expect(() => parseCases({ cases })).toThrow('cases must have at most 1000 checks of the type "matches"');
  });
});

describe('parseCsvCases', () => {
  it('rejects a table with more rows than cases can be stored, before it reads them', () => {
    expect(() => parseCsvCases(`input\n${'a\n'.repeat(1_001)}`)).toThrow('The table has more than 1000 rows.');
    expect(parseCsvCases(`input\n${'a\n'.repeat(1_000)}`)).toHaveLength(1_000);
  });

  it('rejects a table with more than 100 columns', () => {
    const table = (count: number) => `input${',contains'.repeat(count)}\na${',b'.repeat(count)}\n`;
    expect(() => parseCsvCases(table(100))).toThrow('The table has more than 100 columns.');
    expect(parseCsvCases(table(99))[0]?.checks).toHaveLength(99);
  });
});
