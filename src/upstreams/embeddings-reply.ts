import { isJsonObject, isWrittenNumber, type JsonObject } from '#base/json.ts';
import type { EmbeddingsRequest } from '#contract/embeddings-request.ts';
import { UpstreamFault } from '#domain/upstreams/upstream.ts';

/** Requires one vector for each input, all of one length. Throws UpstreamFault. */
export function requireVectors({ data }: JsonObject, { input }: Pick<EmbeddingsRequest, 'input'>): void {
  if (!Array.isArray(data)) throw broken('with JSON that has no embeddings');
  const count = Array.isArray(input) && !isToken(input[0]) ? input.length : 1;
  if (data.length !== count) throw broken(`with ${data.length} embeddings for ${count} inputs`);
  const lengths = new Set(data.map((item: unknown) => lengthOf(isJsonObject(item) ? item.embedding : undefined)));
  if (lengths.has(0)) throw broken('with an embedding that is no vector');
  if (lengths.size > 1) throw broken('with embeddings of several lengths');
}

/** A list of tokens is one input; a large number may stand as it was written. */
function isToken(item: unknown): boolean {
  return typeof item === 'number' || isWrittenNumber(item);
}

/** 0 for what is no vector. */
function lengthOf(embedding: unknown): number {
  if (typeof embedding === 'string') return embedding.length;
  return Array.isArray(embedding) && embedding.every(Number.isFinite) ? embedding.length : 0;
}

function broken(how: string): UpstreamFault {
  return new UpstreamFault('broken', `The upstream answered ${how}.`);
}
