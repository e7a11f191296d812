import { expect, it } from 'vitest';
import { memoryOfProcess, vectorBytes } from './memory-shares.ts';

const mebibyte = 1024 ** 2;

it.each([
  [512, 32],
  [64, 16],
  [1024, 64],
  [65_536, 256],
])('of %i MiB vectors may have %i', (memory, vectors) => {
  expect(vectorBytes(memory * mebibyte)).toBe(vectors * mebibyte);
});

it('a process may take no more than the machine has', () => {
  expect(memoryOfProcess()).toBeGreaterThan(64 * mebibyte);
  expect(memoryOfProcess()).toBeLessThan(2 ** 50);
});
