import { describe, expect, it } from 'vitest';
import { acceptsEncoding, toVary } from './header-fields.ts';

it.each([
  [undefined, 'Origin'],
  ['accept-encoding', 'Origin, accept-encoding'],
  ['Accept, origin, Accept-Encoding', 'Origin, Accept, Accept-Encoding'],
])('toVary extends %s to %s', (vary, all) => {
  expect(toVary(vary)).toBe(all);
});

describe('acceptsEncoding', () => {
  it.each(['gzip', 'br, gzip', 'GZIP;q=0.5', 'deflate;q=1 , gzip ; q=0.001'])('accepts gzip in %j', (field) => {
    expect(acceptsEncoding(field, 'gzip')).toBe(true);
  });

  it.each([undefined, '', 'br', 'gzip;q=0', 'gzip; q=0.0', 'xgzip', 'gzip;q=x', '*'])('does not accept gzip in %j', (field) => {
    expect(acceptsEncoding(field, 'gzip')).toBe(false);
  });
});
