import { expect, it } from 'vitest';
import { findPlaceholder } from './placeholder.ts';

it('finds placeholders one after the other and skips empty braces', () => {
  const text = 'From {{one}} to {{the other}}, {{}} {{a\nb}} {x}';
  expect(findPlaceholder(text)).toEqual({ start: 5, end: 12 });
  expect(findPlaceholder(text, 12)).toEqual({ start: 16, end: 29 });
  expect(findPlaceholder(text, 29)).toBeUndefined();
});
