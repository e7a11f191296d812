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
