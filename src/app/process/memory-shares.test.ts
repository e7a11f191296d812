import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import {
  countEmbeddingThreads,
  getChatTextBytes,
  getDocumentMemoryMb,
  getProcessMemory,
  getVectorBytes,
  releaseStartMemory,
} from './memory-shares.ts';

const mebibyte = 1024 ** 2;

it.each([
  [512, 32],
  [64, 16],
  [1024, 64],
  [65_536, 256],
])('getVectorBytes of %i MiB of memory is %i MiB', (memory, vectors) => {
  expect(getVectorBytes(memory * mebibyte)).toBe(vectors * mebibyte);
});

it('getChatTextBytes gives chat texts a thirty-second of the memory, within bounds', () => {
  expect([64, 1024, 65_536].map((memory) => getChatTextBytes(memory * mebibyte) / mebibyte)).toEqual([16, 32, 128]);
});

it('getProcessMemory returns at most the memory of the machine', () => {
  expect(getProcessMemory()).toBeGreaterThan(64 * mebibyte);
  expect(getProcessMemory()).toBeLessThan(2 ** 50);
});

it('getDocumentMemoryMb gives a document a quarter of the memory, within bounds', () => {
  expect([512, 1024, 2048, 65_536].map((memory) => getDocumentMemoryMb(memory * mebibyte))).toEqual([160, 256, 512, 1024]);
});

it('countEmbeddingThreads returns one thread per core, or fewer if memory is small', () => {
  const machines = [
    [512, 8],
    [2048, 8],
    [65_536, 8],
    [65_536, 1],
  ] as const;
  expect(machines.map(([memory, cores]) => countEmbeddingThreads(memory * mebibyte, cores))).toEqual([1, 2, 4, 1]);
});

it('releaseStartMemory collects garbage, and does not leave the collector to other code', () => {
  let cells: object | undefined;
  for (let count = 0; count < 1_000_000; count += 1) cells = { next: cells };
  const used = process.memoryUsage().heapUsed;
  cells = undefined;
  releaseStartMemory();
  expect(process.memoryUsage().heapUsed).toBeLessThan(used - 10 * mebibyte);
  expect(runInNewContext('typeof gc')).toBe('undefined');
});
