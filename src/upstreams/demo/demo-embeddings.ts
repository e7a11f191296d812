import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '#base/json/json.ts';
import { loadTokenizer } from '#base/text/tokens.ts';
import type { EmbeddingsRequest } from '#contract/chat/embeddings-request.ts';
import type { Embedder } from '#domain/tools/embedder.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';
import { encodeVector } from '../embeddings-reply.ts';
import { toDemoError } from './compare.ts';

/** Answers an embeddings request of OpenAI's API with the local model. Throws `UpstreamError`. */
export async function embed(request: EmbeddingsRequest, embedder: Embedder, signal: AbortSignal): Promise<JsonObject> {
  const { dimensions = embedder.dimensions, encoding_format } = request;
  if (dimensions > embedder.dimensions) {
    throw new UpstreamError('refused', `dimensions must not be more than the ${embedder.dimensions} of ${embedder.model}.`, {
      status: 400,
      param: 'dimensions',
    });
  }
  const texts = await toTexts(request.input);
  const vectors = await embedder.embed(texts, signal).catch((error: unknown) => {
    throw toDemoError(error, signal);
  });
  const tokenizer = await loadTokenizer();
  let tokenCount = 0;
  for (const text of texts) {
    tokenCount += tokenizer.count(text);
    await nextTurn();
  }
  return {
    object: 'list',
    data: vectors.map((vector, index) => {
      const truncated = truncateVector(vector, dimensions);
      return {
        object: 'embedding',
        index,
        embedding: encoding_format === 'base64' ? encodeVector(truncated) : Array.from(truncated),
      };
    }),
    model: embedder.model,
    usage: { prompt_tokens: tokenCount, total_tokens: tokenCount },
  };
}

/** Returns the texts of the input. Decodes tokens of OpenAI's cl100k_base, which clients that split texts send. */
async function toTexts(input: EmbeddingsRequest['input']): Promise<string[]> {
  if (typeof input === 'string') return [input];
  if (typeof input[0] === 'string') return input as string[];
  const lists = (typeof input[0] === 'number' ? [input] : input) as number[][];
  const { decode, vocabularySize } = await import('gpt-tokenizer/encoding/cl100k_base');
  if (lists.some((list) => list.some((token) => token >= vocabularySize))) {
    throw new UpstreamError('refused', 'input has a token that is not in cl100k_base. Send text instead.', {
      status: 400,
      param: 'input',
    });
  }
  return lists.map((list) => decode(list));
}

/** Returns the first dimensions, scaled to length 1. */
function truncateVector(vector: Float32Array, dimensions: number): Float32Array {
  if (dimensions === vector.length) return vector;
  const truncated = vector.slice(0, dimensions);
  const length = Math.hypot(...truncated);
  return length === 0 ? truncated : truncated.map((value) => value / length);
}
