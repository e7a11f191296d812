/**
 * Computes text embeddings as vectors of length 1 with a fixed number of dimensions. Texts of similar meaning have a high dot
 * product.
 */
export interface Embedder {
  /** Name of the model. Stored with the vectors that it computes. */
  readonly model: string;
  readonly dimensions: number;
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>;
}

/** Computes vectors of texts, all with the same number of dimensions. */
export interface TextEmbedder extends Pick<Embedder, 'model' | 'embed'> {
  /** Maximum number of texts per call. Defaults to 64. */
  readonly passagesPerBatch?: number;
}

/** Concatenates the vectors into one array. */
export function concatVectors(vectors: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(vectors.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const vector of vectors) {
    all.set(vector, offset);
    offset += vector.length;
  }
  return all;
}
