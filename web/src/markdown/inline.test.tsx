import { expect, it } from 'vitest';
import { safeLink } from './inline.tsx';

it.each(['https://example.com/a?b#c', 'HTTP://example.com', 'mailto:someone@example.com'])('%s may be followed', (href) => {
  expect(safeLink(href)).toBe(href);
});

it.each([
  'javascript:alert(1)',
  'java\u0000script:x',
  ' JavaScript:x',
  'data:text/html,x',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:https://a/b',
  '//example.com',
  '/v1/bucket',
  '#key=x',
  'https://',
  '',
])('%j may not', (href) => {
  expect(safeLink(href)).toBeUndefined();
});
