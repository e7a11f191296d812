import { EmbeddingFault } from '#base/embedding/local-embedder.ts';
import type { Embedder } from '#domain/tools/embedder.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';

/** What comparing texts needs. */
export interface Comparing {
  readonly embedder: Embedder;
  readonly signal: AbortSignal;
}

/** How near each text is to the question in meaning, from -1 to 1. */
export async function compare(question: string, texts: readonly string[], { embedder, signal }: Comparing): Promise<number[]> {
  if (texts.length === 0) return [];
  const [asked, ...others] = await embedder.embed([question, ...texts], signal);
  return others.map((other) => dot(asked ?? new Float32Array(), other));
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at += 1) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}

/** What stopped the demo, as a fault of an upstream; the signal's reason if the caller left. */
export function toFault(thrown: unknown, signal: AbortSignal): unknown {
  if (signal.aborted || thrown instanceof UpstreamFault) return thrown;
  if (!(thrown instanceof EmbeddingFault)) return new UpstreamFault('broken', 'The embedder failed.', { cause: thrown });
  if (thrown.kind === 'busy')
    return new UpstreamFault('refused', thrown.message, { status: 503, retryAfterSeconds: 1, cause: thrown });
  return new UpstreamFault('broken', thrown.message, { cause: thrown });
}
