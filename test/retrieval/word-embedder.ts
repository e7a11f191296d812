import { createHash } from 'node:crypto';
import type { Embedder } from '#domain/tools/embedder.ts';

const dimensions = 4096;

/** A fast, deterministic embedder. Texts that share words have similar vectors. */
export const wordEmbedder: Embedder = {
  model: 'words',
  dimensions,
  embed: async (texts) => texts.map(toVector),
};

function toVector(text: string): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [''])
    vector[createHash('md5').update(word).digest().readUInt16LE() % dimensions] = 1;
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return vector.map((value) => value / length);
}

/** Creates a word embedder whose batches of more than one text wait for `release`. Models a busy deployment. */
export function createHeldEmbedder() {
  const gate = Promise.withResolvers<void>();
  gate.promise.catch(() => undefined);
  const gated: Embedder = {
    ...wordEmbedder,
    model: 'held words',
    async embed(texts, signal) {
      if (texts.length > 1) await gate.promise;
      return wordEmbedder.embed(texts, signal);
    },
  };
  return { embedder: gated, release: () => gate.resolve(), fail: () => gate.reject(new Error('on purpose')) };
}
