import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import { toPrefixEnd } from './file-index.ts';

function compare(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

describe('toPrefixEnd', () => {
  it('returns the prefix with its last code point incremented', () => {
    expect(toPrefixEnd('a/')).toBe('a0');
    expect(toPrefixEnd('a')).toBe('b');
    expect(toPrefixEnd('\ud7ff')).toBe('\ue000');
    expect(toPrefixEnd('\uffff')).toBe('\u{10000}');
    expect(toPrefixEnd('a\u{10ffff}\u{10ffff}')).toBe('b');
  });

  it('returns undefined if no text sorts after all texts with the prefix', () => {
    expect(toPrefixEnd('')).toBeUndefined();
    expect(toPrefixEnd('\u{10ffff}')).toBeUndefined();
  });

  it('separates the texts with the prefix from all texts that sort after them', () => {
    const text = fc.string({ unit: 'binary', maxLength: 3 });
    fc.assert(
      fc.property(text, text, (prefix, other) => {
        const end = toPrefixEnd(prefix);
        const isWithin = compare(other, prefix) >= 0 && (end === undefined || compare(other, end) < 0);
        expect(isWithin).toBe(other.startsWith(prefix));
      }),
      { numRuns: 500 },
    );
  });
});
