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
