import fastCheck from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findDuplicateKey } from './find-duplicate-key.ts';

describe('findDuplicateKey', () => {
  it.each([
    ['{"a": 1, "a": 2}', ['a']],
    ['{"a": 1, "\\u0061": 2}', ['a']],
    ['{"a": {"b": [1, {"c": 1, "c": 2}]}}', ['a', 'b', 1, 'c']],
    ['[{}, [], {"a": "}", "b": "\\\\\\"", "a": ","}]', [2, 'a']],
    ['{"": 0, "": 0}', ['']],
    ['{"__proto__": 0, "__proto__": 0}', ['__proto__']],
  ])('finds the path in %s', (text, path) => {
    expect(findDuplicateKey(text)).toEqual(path);
  });

  it.each(['{"a": {"a": 1}, "b": {"a": "a"}}', '[{"a": 1}, {"a": 1}]', '["a", "a"]', '"a"', '1', '{"a": "b", "b": "a"}'])(
    'returns undefined for %s',
    (text) => expect(findDuplicateKey(text)).toBeUndefined(),
  );

  it('returns undefined for every text that JSON.stringify returns', () => {
    fastCheck.assert(
      fastCheck.property(fastCheck.json({ maxDepth: 4 }), (text) => {
        expect(findDuplicateKey(JSON.stringify(JSON.parse(text)))).toBeUndefined();
      }),
    );
  });
});
