import { expect, it } from 'vitest';
import { isStorableKey, isStorableText } from './storable-key.ts';

it('isStorableKey() accepts every text of up to 1280 bytes', () => {
  for (const text of ['', '__proto__', "'", '\n', '\ufffd', '\u{10ffff}', 'x'.repeat(1280), '\u{1d4b3}'.repeat(320)]) {
    expect(isStorableKey(text)).toBe(true);
  }
});

it('isStorableKey() rejects text that a database would change, truncate, or confuse with another', () => {
  for (const text of ['\0', 'a\0b', '\ud800', '\udc00', '\udc00\ud800', 'x'.repeat(1281), 'é'.repeat(641)]) {
    expect(isStorableKey(text)).toBe(false);
  }
});

it('isStorableText() has no length limit', () => {
  expect(isStorableText('x'.repeat(100_000))).toBe(true);
  expect(isStorableText('\0')).toBe(false);
  expect(isStorableText('a\ud800')).toBe(false);
});
