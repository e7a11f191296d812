import { protocols } from '#contract/configuration/protocols.ts';
import type { Upstream } from './upstream.ts';

/** Whether an upstream speaks the Messages dialect: a caller of it is relayed. */
export function speaksMessages(upstream: Upstream): boolean {
  return protocols[upstream.protocol].speaksMessages(upstream);
}

/** Whether an upstream has a mode for JSON of whatever schema. The Messages dialect has none. */
export function hasJsonMode(upstream: Upstream): boolean {
  return protocols[upstream.protocol].hasJsonMode && !speaksMessages(upstream);
}
