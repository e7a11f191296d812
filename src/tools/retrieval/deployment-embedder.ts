import { type JsonObject, toObject } from '#base/json/json.ts';
import { splitIntoBatches } from '#base/stream/batches.ts';
import type { EmbeddingsRequest } from '#contract/chat/embeddings-request.ts';
import type { TextEmbedder } from '#domain/tools/embedder.ts';
import { ToolError } from '#domain/tools/tool.ts';

/** Number of texts that all providers accept per request. */
const maxTextsPerRequest = 64;
const maxConcurrentRequests = 4;

/** Sends an embeddings request to the deployment. Rejects with `ParleyError`. */
export type SendEmbeddingsRequest = (request: EmbeddingsRequest, signal: AbortSignal) => Promise<JsonObject>;

/**
 * Creates vectors with a deployment of type `embedding` (`retrieval.embeddingModel`). `model` names the vectors in the index, so
 * it must change whenever the vectors change.
 */
export class DeploymentEmbedder implements TextEmbedder {
  readonly model: string;
  readonly passagesPerBatch = maxTextsPerRequest * maxConcurrentRequests;
  readonly #sendRequest: SendEmbeddingsRequest;

  constructor(model: string, sendRequest: SendEmbeddingsRequest) {
    this.model = model;
    this.#sendRequest = sendRequest;
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const batches = [...splitIntoBatches(texts, maxTextsPerRequest)];
    const vectors = (await Promise.all(batches.map((batch) => this.#embedBatch(batch, signal)))).flat();
    return this.#checkLengths(vectors);
  }

  async #embedBatch(texts: readonly string[], signal: AbortSignal): Promise<(Float32Array | undefined)[]> {
    const { data } = await this.#sendRequest({ input: [...texts], encoding_format: 'float' }, signal);
    const vectors = new Array<Float32Array | undefined>(texts.length).fill(undefined);
    for (const [position, item] of (Array.isArray(data) ? data : []).entries()) {
      const { index = position, embedding } = toObject(item);
      if (typeof index === 'number' && index in vectors) vectors[index] = toVector(embedding);
    }
    return vectors;
  }

  #checkLengths(vectors: readonly (Float32Array | undefined)[]): Float32Array[] {
    const [length] = vectors.map((vector) => vector?.length);
    return vectors.map((vector) => {
      if (vector !== undefined && vector.length === length) return vector;
      throw new ToolError(`the embedding model ${this.model} did not return one vector per text, all of the same length`);
    });
  }
}

/** Normalizes a vector to length 1. Returns undefined if the value is not a vector. */
function toVector(embedding: unknown): Float32Array | undefined {
  if (!Array.isArray(embedding) || embedding.length === 0 || !embedding.every(Number.isFinite)) return undefined;
  const length = Math.sqrt(embedding.reduce((sum: number, value: number) => sum + value * value, 0)) || 1;
  return Float32Array.from(embedding, (value: number) => value / length);
}
