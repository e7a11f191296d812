import { UpstreamFault } from '#domain/upstreams/upstream.ts';

/** What is thrown if a dialect has nothing for a part of the request; `param` is its path. */
export function refusal(what: string, param: string): UpstreamFault {
  return new UpstreamFault('refused', `The upstream of this model does not take ${what}.`, { status: 400, param });
}
