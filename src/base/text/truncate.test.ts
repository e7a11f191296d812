import { expect, it } from 'vitest';
import { createExcerpt, createExcerptOfTexts, trimEnd, truncate } from './truncate.ts';

it.each([
  ['a..b...', '.', 'a..b'],
  ['a. #', '# .', 'a'],
  ['/a/b///', '/', '/a/b'],
  ['...', '.', ''],
  ['a', '.', 'a'],
  ['', '.', ''],
])('trimEnd(%j, %j) returns %j', (text, characters, trimmed) => {
  expect(trimEnd(text, characters)).toBe(trimmed);
});

it.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc…'],
  ['ab😀', 3, 'ab\ufffd…'],
])('truncate(%j, %j) returns %j', (text, maxChars, truncated) => {
  expect(truncate(text, maxChars)).toBe(truncated);
});

const long = `${'before it '.repeat(30)}the **Needle** in\n\nthe haystack ${'behind it '.repeat(30)}`;

it('createExcerpt cuts a long text to one line around the first match', () => {
  const line = createExcerpt(long, ['needle']) ?? '';
  expect(line).toMatch(/^…(before|it) .*the Needle in the haystack behind it.*…$/);
  expect([line.includes('\n'), line.length < 170]).toEqual([false, true]);
});

it('createExcerpt returns a short text in full without Markdown marks, and undefined if no word matches', () => {
  const text = '> > ## **Rome**\n>quoted\n- [by train](https://example.com/a)\n  * [1] > 2 - 1';
  expect(createExcerpt(text, ['rome'])).toBe('Rome quoted by train [1] > 2 - 1');
  expect(createExcerpt('To Rome by train', ['rome', 'trip'])).toBe('To Rome by train');
  expect(createExcerpt('To Rome by train', ['paris'])).toBeUndefined();
});

it('createExcerpt chooses the position with the most different words', () => {
  const text = `far ${'and away '.repeat(60)} here stands far close near`;
  expect(createExcerpt(text, ['close', 'near'])).toContain('far close near');
  expect(createExcerpt(`alone ${'x '.repeat(300)} close near`, ['alone', 'close', 'near'])).toContain('close near');
});

it('createExcerptOfTexts uses the first text with the most words', () => {
  expect(createExcerptOfTexts(['one', 'one and two', 'two and one'], ['one', 'two'])).toBe('one and two');
  expect([createExcerptOfTexts([], ['one']), createExcerptOfTexts(['one'], ['two'])]).toEqual([undefined, undefined]);
});
