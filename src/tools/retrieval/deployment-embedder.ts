import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { EmbeddingsRequest } from '#contract/chat/embeddings-request.ts';
import type { Embedder } from '#domain/tools/embedder.ts';
import { ToolFault } from '#domain/tools/tool.ts';

/** What providers take of texts in a request, and what they are asked at once. */
const [textsInRequest, requestsAtOnce] = [64, 4];

/** Sends an embeddings request to the deployment; rejects with a ParleyError. */
export type AskEmbeddings = (request: EmbeddingsRequest, signal: AbortSignal) => Promise<JsonObject>;

/** Vectors made by a deployment of type `embedding` (`retrieval.embeddingModel`). `model` must change whenever the vectors do. */
export class DeploymentEmbedder implements TextEmbedder {
  readonly model: string;
  readonly passagesAtOnce = textsInRequest * requestsAtOnce;
  readonly #ask: AskEmbeddings;

  constructor(model: string, ask: AskEmbeddings) {
    this.model = model;
    this.#ask = ask;
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const parts = Array.from({ length: Math.ceil(texts.length / textsInRequest) }, (_, nth) =>
      texts.slice(nth * textsInRequest, (nth + 1) * textsInRequest),
    );
    const vectors = (await Promise.all(parts.map((part) => this.#embedPart(part, signal)))).flat();
    return this.#requireOneLength(vectors);
  }

  async #embedPart(texts: readonly string[], signal: AbortSignal): Promise<(Float32Array | undefined)[]> {
    const { data } = await this.#ask({ input: [...texts], encoding_format: 'float' }, signal);
    const vectors = new Array<Float32Array | undefined>(texts.length).fill(undefined);
    for (const [at, item] of (Array.isArray(data) ? data : []).entries()) {
      const { index = at, embedding } = isJsonObject(item) ? item : {};
      if (typeof index === 'number' && index in vectors) vectors[index] = toVector(embedding);
    }
    return vectors;
  }

  #requireOneLength(vectors: readonly (Float32Array | undefined)[]): Float32Array[] {
    const [length] = vectors.map((vector) => vector?.length);
    return vectors.map((vector) => {
      if (vector !== undefined && vector.length === length) return vector;
      throw new ToolFault(`the embedding model ${this.model} did not give a vector of one length for each text`);
    });
  }
}

/** Of length 1; undefined if it is no vector. */
function toVector(embedding: unknown): Float32Array | undefined {
  if (!Array.isArray(embedding) || embedding.length === 0 || !embedding.every(Number.isFinite)) return undefined;
  const length = Math.sqrt(embedding.reduce((sum: number, value: number) => sum + value * value, 0)) || 1;
  return Float32Array.from(embedding, (value: number) => value / length);
}

/** What makes vectors here: of texts, all of one length. */
export interface TextEmbedder extends Pick<Embedder, 'model' | 'embed'> {
  /** How many texts of documents it is given at once; absent: 64. */
  readonly passagesAtOnce?: number;
}
