import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJsonError } from './find-json-error.ts';

describe('findJsonError', () => {
  it.each([
    ['', 1, 1],
    ['oops', 1, 1],
    ['{"a": oops}', 1, 7],
    ['{"a": 1,}', 1, 9],
    ['{"a" 1}', 1, 6],
    ['{a: 1}', 1, 2],
    ['[1 2]', 1, 4],
    ['[1,]', 1, 4],
    ['[1}', 1, 3],
    ['{"a": 1} x', 1, 10],
    ['{"a": 1', 1, 8],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
    ['{"a": "no end}', 1, 15],
    ['{"a": "\\x"}', 1, 8],
    ['{"a": "\\\\", b}', 1, 13],
    ['["a\nb"]', 1, 4],
    ['[01]', 1, 2],
    ['[tru]', 1, 2],
  ])('returns the position of the error in %j', (text, line, column) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(findJsonError(text)).toEqual({ line, column });
  });

  it('never returns a position after an inserted control character', () => {
    const broken = fc.tuple(fc.json(), fc.nat()).map(([json, at]) => ({ json, at: at % (json.length + 1) }));
    fc.assert(
      fc.property(broken, ({ json, at }) => {
        const { line, column } = findJsonError(`${json.slice(0, at)}\u0001${json.slice(at)}`);
        expect(line).toBe(1);
        expect(column).toBeLessThanOrEqual(at + 1);
      }),
    );
  });
});
