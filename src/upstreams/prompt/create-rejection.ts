import { UpstreamError } from '#domain/upstreams/upstream.ts';

/** What is thrown if a dialect has nothing for a part of the request; `param` is its path. */
export function createRejection(feature: string, param: string): UpstreamError {
  return new UpstreamError('refused', `The upstream of this model does not take ${feature}.`, { status: 400, param });
}
