import { protocols } from '#contract/configuration/protocols.ts';
import type { Upstream } from './upstream.ts';

/** Whether an upstream speaks the Messages dialect: a caller of it is relayed. */
export function speaksMessages(upstream: Upstream): boolean {
  return protocols[upstream.protocol].speaksMessages(upstream);
}

/** The same of an upstream of a vendor, where only Claude behind Google's Vertex speaks it. */
export function isClaudeOnVertex(upstream: Upstream): boolean {
  return speaksMessages(upstream);
}
