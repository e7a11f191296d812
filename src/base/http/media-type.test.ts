import { expect, it } from 'vitest';
import { toEssence } from './media-type.ts';

it.each([
  ['text/html', 'text/html'],
  ['Text/HTML; charset=utf-8', 'text/html'],
  ['text/html;charset="utf-8, \\"x\\""; a=b ', 'text/html'],
  ['application/vnd.plotly.v1+json', 'application/vnd.plotly.v1+json'],
  ['text/plain;', 'text/plain'],
])('toEssence(%j) returns %s', (text, essence) => {
  expect(toEssence(text)).toBe(essence);
});

it.each([
  ...['', 'text', 'text/', '/html', 'text/html/x', 'text html', 'text/html x', 'image/png text/html'],
  ...[
    'application/pdf,text/html',
    'application/pdf, text/html',
    'application/pdf; x=,text/html',
    'application/pdf;x=y,text/html',
  ],
  ...['application/pdf;text/html', 'text/html\r\nx: y', 'text/html;x="a', 'text/html;x="\n"', 'application/pdf\0', 'text/hтml'],
  `text/${'x'.repeat(300)}`,
])('toEssence(%j) returns undefined', (text) => {
  expect(toEssence(text)).toBeUndefined();
});

it('toEssence reads many parameters in linear time', () => {
  expect(toEssence(`a/b${';'.repeat(200)}"`)).toBeUndefined();
  expect(toEssence(`a/b${'; a=b '.repeat(35)},`)).toBeUndefined();
});
