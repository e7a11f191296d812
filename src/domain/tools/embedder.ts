/** Turns texts into vectors of equal, fixed length; near meaning gives a high dot product (vectors have length 1). */
export interface Embedder {
  /** Name of the model, stored with what was made by it. */
  readonly model: string;
  readonly dimensions: number;
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>;
}
