import type { Upstream } from './upstream.ts';

/** Whether an upstream serves the Responses API: a caller of it is relayed. */
export function speaksResponses({ apis }: Pick<Upstream, 'apis'>): boolean {
  return apis?.includes('responses') === true;
}
