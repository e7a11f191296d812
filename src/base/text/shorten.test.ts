import { expect, it } from 'vitest';
import { trimEnd } from './shorten.ts';

it.each([
  ['a..b...', '.', 'a..b'],
  ['a. #', '# .', 'a'],
  ['...', '.', ''],
  ['a', '.', 'a'],
  ['', '.', ''],
])('trimEndOf(%j, %j) returns %j', (text, characters, trimmed) => {
  expect(trimEnd(text, characters)).toBe(trimmed);
});
