import { availableParallelism, totalmem } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const mebibyte = 1024 ** 2;
const vectorShare = 1 / 16;
const minVectorBytes = 16 * mebibyte;
const maxVectorBytes = 256 * mebibyte;

/** Environment variable with the number of workers, which share the memory. The primary process sets it. */
export const workerCountVariable = 'PARLEY_WORKER_COUNT';

/**
 * Returns the memory in bytes that this process may use: the limit of its container, otherwise the memory of the machine. The
 * workers share it equally.
 */
export function getProcessMemory(): number {
  const limit = process.constrainedMemory();
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.floor(memory / Number(process.env[workerCountVariable] ?? 1));
}

/** Returns the number of bytes for vectors of documents. In a small container, searches are slower but do not exhaust the memory. */
export function getVectorBytes(memory: number): number {
  return Math.min(maxVectorBytes, Math.max(minVectorBytes, Math.floor(memory * vectorShare)));
}

const inputShare = 1 / 8;
const minInputBytes = 128 * mebibyte;

/** Returns the number of bytes for the large inputs of one user. A call uses up to twice the bytes of its inputs. */
export function getUserInputBytes(memory: number): number {
  return Math.max(minInputBytes, Math.floor(memory * inputShare));
}

/**
 * Frees memory that only the start of the process needed: 16 MB of pages, and 2 MB of bytecode. Blocks the event loop for 0.1 s.
 * `--expose-gc` is not on the command line, because V8 would then reject the compiled code of Node's own modules.
 */
export function releaseStartMemory(): void {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as (options: object) => void;
  setFlagsFromString('--no-expose-gc');
  setFlagsFromString('--bytecode-old-age=1');
  collectGarbage({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  // The default of V8. Later collections keep the bytecode of functions that calls need from time to time.
  setFlagsFromString('--bytecode-old-age=6');
}

const textShare = 1 / 32;
const minTextBytes = 16 * mebibyte;
const maxTextBytes = 128 * mebibyte;

/** Returns the number of bytes for decrypted texts of searched chats. A text that does not fit is decrypted again in each search. */
export function getChatTextBytes(memory: number): number {
  return Math.min(maxTextBytes, Math.max(minTextBytes, Math.floor(memory * textShare)));
}

const minDocumentMb = 160;
const maxDocumentMb = 1024;

/**
 * Returns the number of MiB for reading one document. At most three documents are read at a time, so a quarter of the memory
 * remains for the rest of the node, unless the minimum of 160 MiB applies.
 */
export function getDocumentMemoryMb(memory: number): number {
  return Math.min(maxDocumentMb, Math.max(minDocumentMb, Math.floor(memory / 4 / mebibyte)));
}

const maxThreads = 4;
const memoryPerThread = 1024 * mebibyte;

/**
 * Returns the number of threads for the embedding model, which uses about 150 MB per thread: one per core, at most four, and
 * fewer in a small container.
 */
export function countEmbeddingThreads(memory: number, cores = availableParallelism()): number {
  return Math.max(1, Math.min(maxThreads, cores, Math.floor(memory / memoryPerThread)));
}
