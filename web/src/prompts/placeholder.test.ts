import { expect, it } from 'vitest';
import { nextPlaceholder } from './placeholder.ts';

it('finds placeholders one after the other and skips empty braces', () => {
  const text = 'From {{one}} to {{the other}}, {{}} {{a\nb}} {x}';
  expect(nextPlaceholder(text)).toEqual({ start: 5, end: 12 });
  expect(nextPlaceholder(text, 12)).toEqual({ start: 16, end: 29 });
  expect(nextPlaceholder(text, 29)).toBeUndefined();
});
