import { expect, it } from 'vitest';
import { formatSize } from './file-list.tsx';

it.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1500, '1.5 kB'],
  [254_000, '254 kB'],
  [536_870_912, '537 MB'],
  [1e16, '10,000 TB'],
])('formats %d bytes as %s', (bytes, text) => {
  expect(formatSize(bytes, 'en')).toBe(text);
});
