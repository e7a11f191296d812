import { expect, it } from 'vitest';
import { excerptOf, excerptOfTexts } from './excerpt.ts';

const long = `${'before it '.repeat(30)}the **Needle** in\n\nthe haystack ${'behind it '.repeat(30)}`;

it('a long text is cut around the first place where a word stands, in one line', () => {
  const line = excerptOf(long, ['needle']) ?? '';
  expect(line).toMatch(/^…(before|it) .*the Needle in the haystack behind it.*…$/);
  expect([line.includes('\n'), line.length < 170]).toEqual([false, true]);
});

it('a short text is whole, and nothing is given where no word stands', () => {
  expect(excerptOf('To Rome by train', ['rome', 'trip'])).toBe('To Rome by train');
  expect(excerptOf('To Rome by train', ['paris'])).toBeUndefined();
});

it('the place with more of the words is taken', () => {
  const text = `far ${'and away '.repeat(60)} here stands far beside near`;
  expect(excerptOf(text, ['beside', 'near'])).toContain('far beside near');
  expect(excerptOf(`alone ${'x '.repeat(300)} beside near`, ['alone', 'beside', 'near'])).toContain('beside near');
});

it('of several texts the first with the most words is taken', () => {
  expect(excerptOfTexts(['one', 'one and two', 'two and one'], ['one', 'two'])).toBe('one and two');
  expect([excerptOfTexts([], ['one']), excerptOfTexts(['one'], ['two'])]).toEqual([undefined, undefined]);
});
