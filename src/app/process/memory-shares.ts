import { availableParallelism, totalmem } from 'node:os';

const mebibyte = 1024 ** 2;
const vectorShare = 1 / 16;
const minVectorBytes = 16 * mebibyte;
const maxVectorBytes = 256 * mebibyte;

/** Bytes that this process may take: those of its container, else of the machine. */
export function getProcessMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** How many of them vectors of documents may have: a small container searches longer rather than run out of memory. */
export function getVectorBytes(memory: number): number {
  return Math.min(maxVectorBytes, Math.max(minVectorBytes, Math.floor(memory * vectorShare)));
}

const textShare = 1 / 32;
const minTextBytes = 16 * mebibyte;
const maxTextBytes = 128 * mebibyte;

/** How many of them texts of conversations may have that were searched: where they have no room, each search decrypts them anew. */
export function getChatTextBytes(memory: number): number {
  return Math.min(maxTextBytes, Math.max(minTextBytes, Math.floor(memory * textShare)));
}

const minDocumentMb = 160;
const maxDocumentMb = 1024;

/** MiB that reading a document may take: three are read at once at most, and a quarter of the memory is left to the node. */
export function getDocumentMemoryMb(memory: number): number {
  return Math.min(maxDocumentMb, Math.max(minDocumentMb, Math.floor(memory / 4 / mebibyte)));
}

const maxThreads = 4;
const memoryPerThread = 1024 * mebibyte;

/** How many threads may have the model of sentences, some 150 MB each: as many as there are cores, fewer in a small container. */
export function countEmbeddingThreads(memory: number, cores = availableParallelism()): number {
  return Math.max(1, Math.min(maxThreads, cores, Math.floor(memory / memoryPerThread)));
}
