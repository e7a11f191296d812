import { expect, it } from 'vitest';
import { toVary } from './response-head.ts';

it.each([
  [undefined, 'Origin'],
  ['accept-encoding', 'Origin, accept-encoding'],
  ['Accept, origin, Accept-Encoding', 'Origin, Accept, Accept-Encoding'],
])('what varies by %s varies by %s', (vary, all) => {
  expect(toVary(vary)).toBe(all);
});
