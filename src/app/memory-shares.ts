import { totalmem } from 'node:os';

const mebibyte = 1024 ** 2;
const vectorShare = 1 / 16;
const leastVectorBytes = 16 * mebibyte;
const mostVectorBytes = 256 * mebibyte;

/** Bytes that this process may take: those of its container, else of the machine. */
export function memoryOfProcess(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** How many of them vectors of documents may have: a small container searches longer rather than run out of memory. */
export function vectorBytes(memory: number): number {
  return Math.min(mostVectorBytes, Math.max(leastVectorBytes, Math.floor(memory * vectorShare)));
}
