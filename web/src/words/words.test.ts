import { expect, it } from 'vitest';
import { english } from './english.ts';
import { german } from './german.ts';

it('Both languages say everything', () => {
  expect(Object.keys(german)).toEqual(Object.keys(english));
  for (const words of [english, german]) {
    for (const said of Object.values(words)) {
      const text = typeof said === 'function' ? (said as (...values: unknown[]) => string)(2, 3) : said;
      expect(text.trim()).not.toBe('');
      expect(text).not.toContain('undefined');
    }
  }
});

it('One is told from many', () => {
  const counted = [
    english.tokens('1'),
    english.moreRows('1'),
    english.longEnough(1),
    english.shortEnough(1),
    english.answerDone(1),
  ];
  expect(counted.filter((said) => /\b(1|one) (more )?\w+s\b/.test(said))).toEqual([]);
  expect([english.tokens('2'), english.shortEnough(2)]).toEqual(['2 tokens', 'At most 2 characters.']);
  expect(german.moreRows('1')).toContain('1 weitere Zeile ist');
});
