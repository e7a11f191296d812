import { EmbeddingFault } from '#base/embedding/local-embedder.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';

/** What stopped the demo, as a fault of an upstream; the signal's reason if the caller left. */
export function toFault(thrown: unknown, signal: AbortSignal): unknown {
  if (signal.aborted || thrown instanceof UpstreamFault) return thrown;
  if (!(thrown instanceof EmbeddingFault)) return new UpstreamFault('broken', 'The embedder failed.', { cause: thrown });
  if (thrown.kind === 'busy')
    return new UpstreamFault('refused', thrown.message, { status: 503, retryAfterSeconds: 1, cause: thrown });
  return new UpstreamFault('broken', thrown.message, { cause: thrown });
}
