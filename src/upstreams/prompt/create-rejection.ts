import { UpstreamError } from '#domain/upstreams/upstream.ts';

/** Returns the error for a part of the request that a dialect does not support. `param` is the path of the part. */
export function createRejection(feature: string, param: string): UpstreamError {
  return new UpstreamError('refused', `The upstream of this model does not accept ${feature}.`, { status: 400, param });
}
