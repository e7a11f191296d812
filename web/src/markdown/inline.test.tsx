import { expect, it } from 'vitest';
import { safeLink } from './inline.tsx';

it.each(['https://example.com/a?b#c', 'HTTP://example.com', 'mailto:someone@example.com'])('allows the link %s', (href) => {
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
])('rejects the link %j', (href) => {
  expect(safeLink(href)).toBeUndefined();
});
