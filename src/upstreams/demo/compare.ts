import { EmbeddingError } from '#base/embedding/local-embedder.ts';
import type { Embedder } from '#domain/tools/embedder.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';

/** Dependencies for comparing texts. */
export interface CompareDeps {
  readonly embedder: Embedder;
  readonly signal: AbortSignal;
}

/** Returns the similarity of each text to the question, from -1 to 1. */
export async function compare(question: string, texts: readonly string[], { embedder, signal }: CompareDeps): Promise<number[]> {
  if (texts.length === 0) return [];
  const [questionVector, ...vectors] = await embedder.embed([question, ...texts], signal);
  return vectors.map((vector) => dot(questionVector ?? new Float32Array(), vector));
}

function dot(first: Float32Array, second: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < first.length; index += 1) sum += (first[index] ?? 0) * (second[index] ?? 0);
  return sum;
}

/** Returns the error as an `UpstreamError`. Returns the signal's reason if the client disconnected. */
export function toDemoError(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted || error instanceof UpstreamError) return error;
  if (!(error instanceof EmbeddingError)) return new UpstreamError('broken', 'The embedder failed.', { cause: error });
  if (error.kind === 'busy')
    return new UpstreamError('refused', error.message, { status: 503, retryAfterSeconds: 1, cause: error });
  return new UpstreamError('broken', error.message, { cause: error });
}
