import { expect, it } from 'vitest';
import { createExcerpt, createExcerptOfTexts } from './create-excerpt.ts';

const long = `${'before it '.repeat(30)}the **Needle** in\n\nthe haystack ${'behind it '.repeat(30)}`;

it('a long text is cut around the first place where a word stands, in one line', () => {
  const line = createExcerpt(long, ['needle']) ?? '';
  expect(line).toMatch(/^…(before|it) .*the Needle in the haystack behind it.*…$/);
  expect([line.includes('\n'), line.length < 170]).toEqual([false, true]);
});

it('a short text is whole, and nothing is given where no word stands', () => {
  expect(createExcerpt('To Rome by train', ['rome', 'trip'])).toBe('To Rome by train');
  expect(createExcerpt('To Rome by train', ['paris'])).toBeUndefined();
});

it('the place with more of the words is taken', () => {
  const text = `far ${'and away '.repeat(60)} here stands far beside near`;
  expect(createExcerpt(text, ['beside', 'near'])).toContain('far beside near');
  expect(createExcerpt(`alone ${'x '.repeat(300)} beside near`, ['alone', 'beside', 'near'])).toContain('beside near');
});

it('of several texts the first with the most words is taken', () => {
  expect(createExcerptOfTexts(['one', 'one and two', 'two and one'], ['one', 'two'])).toBe('one and two');
  expect([createExcerptOfTexts([], ['one']), createExcerptOfTexts(['one'], ['two'])]).toEqual([undefined, undefined]);
});
