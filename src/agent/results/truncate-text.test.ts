import { expect, it } from 'vitest';
import { truncateText } from './truncate-text.ts';

it.each([
  ['a text that fits', 'abc', 3, 'abc'],
  ['an array after an element', '[{"a":1,"b":2},{"a":3,"b":4},{"a":5}]', 34, '[{"a":1,"b":2},{"a":3,"b":4},'],
  ['an object after a member', '{"a":"x, y","b":"z, and more of it"}', 22, '{"a":"x, y",'],
  ['inside a nested value if the outer boundaries are too far away', '{"a":[1,2,3,4,5,6,7,8,9]}', 20, '{"a":[1,2,3,4,5,6,7,'],
  ['lines of text', 'first line\nsecond line\nthird', 25, 'first line\nsecond line\n'],
  ['words', 'some words and more', 13, 'some words '],
  ['one word', 'abcdefgh', 3, 'abc'],
  ['multi-byte characters', 'ééé', 3, 'é'],
  ['characters of two units', '😀😀', 7, '😀'],
  ['to the empty string', 'abc', 0, ''],
])('truncateText truncates %s', (_description, text, bytes, expected) => {
  expect(truncateText(text, bytes)).toBe(expected);
});
