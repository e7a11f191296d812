import { expect, it } from 'vitest';
import { trimEndOf } from './shorten.ts';

it.each([
  ['a..b...', '.', 'a..b'],
  ['a. #', '# .', 'a'],
  ['...', '.', ''],
  ['a', '.', 'a'],
  ['', '.', ''],
])('trimEndOf(%j, %j) returns %j', (text, characters, trimmed) => {
  expect(trimEndOf(text, characters)).toBe(trimmed);
});
