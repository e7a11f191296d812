import { expect, it } from 'vitest';
import { trimEnd } from './truncate.ts';

it.each([
  ['a..b...', '.', 'a..b'],
  ['a. #', '# .', 'a'],
  ['...', '.', ''],
  ['a', '.', 'a'],
  ['', '.', ''],
])('trimEnd(%j, %j) returns %j', (text, characters, trimmed) => {
  expect(trimEnd(text, characters)).toBe(trimmed);
});
