import fc from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import { CallArguments } from './call-arguments.ts';

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

describe('CallArguments', () => {
  it('is complete after a piece if and only if the text is a JSON object', () => {
    const json = fc.jsonValue().map((value) => JSON.stringify(value));
    const unusualText = fc.array(
      fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', ' ', '\n', '\u00a0', '1', '"a":', '{}'),
    );
    const piece = fc.oneof(
      unusualText.map((parts) => parts.join('')),
      json,
      fc.tuple(fc.string(), json).map(([key, value]) => `{${JSON.stringify(key)}:${value}}`),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 4 }), fc.integer({ min: 1, max: 9 }), (pieces, size) => {
        const args = new CallArguments();
        const text = pieces.join('');
        for (let index = 0; index < text.length; index += size) {
          args.add(text.slice(index, index + size));
          expect(args.isComplete).toBe(isObject(text.slice(0, index + size)));
        }
      }),
      { numRuns: 500 },
    );
  });
});
