import { assert, property, string, uint8Array } from 'fast-check';
import '#test/same-cases.ts';
import { describe, expect, it } from 'vitest';
import { readDataUrl } from './data-url.ts';

describe('readDataUrl', () => {
  it.each([
    ['data:image/png;base64,iVBO', { mediaType: 'image/png', base64: 'iVBO' }],
    ['DATA:Image/JPG; Base64,x', { mediaType: 'image/jpeg', base64: 'x' }],
    ['data:image/png;base64,iVBORw%3D%3D', { mediaType: 'image/png', base64: 'iVBORw==' }],
    ['data:,a', { mediaType: 'text/plain', base64: 'YQ==' }],
    ['data:text/csv;charset=utf-8,100%', { mediaType: 'text/csv', base64: Buffer.from('100%').toString('base64') }],
    ['data:image/png;base64', undefined],
  ])('reads %j', (url, data) => {
    expect(readDataUrl(url)).toEqual(data);
  });

  it('preserves every byte and every text', () => {
    assert(
      property(uint8Array(), (bytes) => {
        const base64 = Buffer.from(bytes).toString('base64');
        expect(readDataUrl(`data:a/b;base64,${base64}`)?.base64).toBe(base64);
      }),
    );
    assert(
      property(string({ unit: 'grapheme' }), (text) => {
        const { base64 = '' } = readDataUrl(`data:,${encodeURIComponent(text)}`) ?? {};
        expect(Buffer.from(base64, 'base64').toString()).toBe(text);
      }),
    );
  });
});
