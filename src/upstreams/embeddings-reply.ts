import { type JsonObject, toObject } from '#base/json/json.ts';
import { UpstreamError } from '#domain/upstreams/upstream.ts';

/** Requires `data` to be a list of vectors, as lists of numbers or as base64. Throws `UpstreamError`. */
export function requireVectors({ data }: JsonObject): void {
  if (!Array.isArray(data)) throw new UpstreamError('broken', 'The upstream answered with JSON that has no embeddings.');
  if (!data.every((item) => isVector(toObject(item).embedding)))
    throw new UpstreamError('broken', 'The upstream answered with an embedding that is not a vector.');
}

function isVector(embedding: unknown): boolean {
  if (typeof embedding === 'string') return embedding !== '';
  return Array.isArray(embedding) && embedding.length > 0 && embedding.every(Number.isFinite);
}

/** Returns the vector as base64 of little-endian 32-bit floats. */
export function encodeVector(vector: readonly number[] | Float32Array): string {
  const bytes = Buffer.alloc(vector.length * Float32Array.BYTES_PER_ELEMENT);
  vector.forEach((value, index) => {
    bytes.writeFloatLE(value, index * Float32Array.BYTES_PER_ELEMENT);
  });
  return bytes.toString('base64');
}
