import { availableParallelism, totalmem } from 'node:os';

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

const textShare = 1 / 32;
const leastTextBytes = 16 * mebibyte;
const mostTextBytes = 128 * mebibyte;

/** How many of them texts of conversations may have that were searched: where they have no room, each search decrypts them anew. */
export function chatTextBytes(memory: number): number {
  return Math.min(mostTextBytes, Math.max(leastTextBytes, Math.floor(memory * textShare)));
}

const leastDocumentMb = 160;
const mostDocumentMb = 1024;

/** MiB that reading a document may take: three are read at once at most, and a quarter of the memory is left to the node. */
export function documentMemoryMb(memory: number): number {
  return Math.min(mostDocumentMb, Math.max(leastDocumentMb, Math.floor(memory / 4 / mebibyte)));
}

const mostThreads = 4;
const memoryPerThread = 1024 * mebibyte;

/** How many threads may have the model of sentences, some 150 MB each: as many as there are cores, fewer in a small container. */
export function embeddingThreads(memory: number, cores = availableParallelism()): number {
  return Math.max(1, Math.min(mostThreads, cores, Math.floor(memory / memoryPerThread)));
}
